// octavo: the command line.
int main(void)
{
    return 0;
}
