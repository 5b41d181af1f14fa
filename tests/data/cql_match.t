# One clause against one value: query | value | yes, no, unknown (value missing: no second column
# between the bars) or the error. Behind "how:" stands how the cases that follow compare.

how: fold
f==harry potter | Harry Potter | yes
f==harry | Harry Potter | no
f==harry* | Harry Potter | yes
f=="*potter" | Harry Potter | yes
f=="*r*t*r" | Harry Potter | yes
f=="*r*t*x" | Harry Potter | no
f==h?rry potter | Harry Potter | yes
f==h?rry | Hrry | no
f==? | é | yes
f==?? | ß | yes
f==a* | a | yes
f==*a | ba | yes
f==*ab | aab | yes
f==ab*ab | ab | no
f==a*b*c | axxbxxc | yes
f==* |  | yes
f==* || unknown
f==** | x | yes
f=="*?*" |  | no
f=="*?b" | ab | yes
f==a\*b | a*b | yes
f==a\*b | axb | no
f==a\?b* | a?bc | yes
f=="x\"y" | x"y | yes
f=="C:\\dir" | C:\dir | yes
f=="C:\\*" | C:\dir | yes
f==x^y | x^y | yes
f==50%_ | 50%_ | yes
f==50%_ | 50%x | no
f==x |  x | no
f==sovang | Søvang | yes
f==*vång | Søvang | yes
f=="" |  | yes
f=="" | a | no
f=="" || unknown
f<>"" | a | yes
f<>"" |  | no
f<>x || unknown
f<>x | X | no
f<>x* | xy | no
f<>x* | yx | yes
f=="[]" | [] | yes
f=="*\"en\"*" | ["de", "en"] | yes
f==true | true | yes
f==5 | 5.0 | no
f<"ABD" | abc | yes
f<apple | Zebra | no
f<z || unknown
f>=ab* | abc | yes
f>="a\*" | a* | yes
f<9 | 10 | yes
f<="2024-01-31" | 2024-01-31T23:59:59.000+00:00 | no

how: keep case
f==potter | Potter | no
f==Søvang | Sovang | yes

how: keep accents
f==SØVANG | søvang | yes
f==sovang | søvang | no

how: keep case, keep accents
f==Sø* | Søvang | yes
f==sø* | Søvang | no

how: raw
f<"ABD" | abc | no
f<apple | Zebra | yes
f>ä | b | no

how: time
f>"2024-01-31T10:00:00.000+00:00" | 2024-01-31T11:00:00.000+02:00 | no
f<"2024-01-31T10:00:00.000+00:00" | 2024-01-31T11:00:00.000+02:00 | yes
f=="2024-01-31T10:00:00Z" | 2024-01-31T10:00:00.000+00:00 | yes
f<>"2024-01-31T10:00:00Z" | 2024-01-31T10:00:00.000+00:00 | no
f=="2024-01-31*" | 2024-01-31T10:00:00.000+00:00 | yes
f>="2024-01-31" | 2024-01-31T00:00:00.000+00:00 | yes
f<"2024-02" | 2024-01-31T00:00:00.000+00:00 | yes
f<"2024-02-01" | never | no
f>"2024-02-01" | never | yes

# Numbers
how: fold
f==/number 5 | 5.0 | yes
f=/number 4.0 | 4e0 | yes
f==/number 4 | 0004.000 | yes
f==/number 400 | 4E+2 | yes
f==/number 0.04 | 4e-2 | yes
f==/number 0 | -0.0 | yes
f<>/number 5 | 5.0 | no
f<>/number 5 | 6 | yes
f</number 9 | 10 | no
f>/number 9 | 10 | yes
f>=/number 10 | 10.0 | yes
f<=/number -1 | -2 | yes
f</number -2 | -1 | no
f</number 1 | -1 | yes
f>/number 99999999999999999999 | 100000000000000000000 | yes
f==/number 12345678901234567890 | 12345678901234567891 | no
f</number .5 | .25 | yes
f==/number 5 | x | no
f<>/number 5 | x | no
f==/number 5 || unknown
f=/number "" | x | yes
f==/number x | 5 | 400 CQL: Invalid number after 'f==/number': x
f==/number "" | 5 | 400 CQL: Invalid number after 'f==/number': 
f==/number 1e | 5 | 400 CQL: Invalid number after 'f==/number': 1e
f==/number 1e999999 | 5 | 400 CQL: Invalid number after 'f==/number': 1e999999
f==/number . | 5 | 400 CQL: Invalid number after 'f==/number': .

# Words
f=potter | Harry Potter and the chamber | yes
f=Pot | Harry Potter | no
f=har* potter | Harry Potter | yes
f=har* pot* | Harry Potter | yes
f=Harry Potter | Harry X. Potter | no
f=a c | a b a c | yes
f=a b c | a b | no
f all Potter Harry | Harry X. Potter | yes
f all Potter Ron | Harry X. Potter | no
f all pot* har* | Harry Potter | yes
f any Potter Foo | Harry Potter | yes
f any Foo Bar | Harry Potter | no
f adj Harry Potter | The Harry - . - Potter Story | yes
f=bar-baz | foo-bar-baz | yes
f=O'Reilly | O’Reilly | yes
f=R D | R & D | yes
f=c++ | C# | yes
f=école | ecole | yes
f=图书馆 | 中文图书馆 | no
f=jo@* | jo@example.com | yes
f=jo@* | john@example.com | no
f=jo* | john@example.com | yes
f=a^b | a b | yes
f="har\* potter" | har potter | yes
f="what\?" | what | yes
f="*" || yes
f=* | x | yes
f=* * | x | no
f=* potter | Harry Potter | yes
f="" |  | yes
f="" || unknown
f all "" | x | yes
f any "" || unknown
f=. | hello | no
f=- |  | no
f=x || unknown
f=a*b | ab | 400 * right truncation wildcard must be followed by space or end of string, but found b
f=*é | ab | 400 * right truncation wildcard must be followed by space or end of string, but found é
f=a** | ab | 400 * right truncation wildcard must be followed by space or end of string, but found *
f all a?b | ab | 400 ? wildcard not allowed in full text query string
f=en | ["en", "fre"] | yes
f="x y" | [{"type": "a", "value": "X Y"}] | yes

# Ids and references
how: uuid
id==2B94C631-fca9-4892-a730-03ee529ffe2a | 2b94c631-fca9-4892-a730-03ee529ffe2a | yes
id=2b94c631-fca9-4892-a730-03ee529ffe2b | 2b94c631-fca9-4892-a730-03ee529ffe2a | no
id==NOT_FOUND | 2b94c631-fca9-4892-a730-03ee529ffe2a | no
id<>NOT_FOUND | 2b94c631-fca9-4892-a730-03ee529ffe2a | yes
id<>2b94c631-fca9-4892-a730-03ee529ffe2a | 2b94c631-fca9-4892-a730-03ee529ffe2a | no
id<>2b94c631-fca9-4892-a730-03ee529ffe2a || unknown
id==2B* | 2b94c631-fca9-4892-a730-03ee529ffe2a | yes
id=2c* | 2b94c631-fca9-4892-a730-03ee529ffe2a | no
id<>2b* | 2b94c631-fca9-4892-a730-03ee529ffe2a | no
id<>2c* | 2b94c631-fca9-4892-a730-03ee529ffe2a | yes
id=* | 2b94c631-fca9-4892-a730-03ee529ffe2a | yes
id=* || unknown
id==* | 2b94c631-fca9-4892-a730-03ee529ffe2a | yes
id<>* | 2b94c631-fca9-4892-a730-03ee529ffe2a | no
id="" | 2b94c631-fca9-4892-a730-03ee529ffe2a | yes
id<>"" | 2b94c631-fca9-4892-a730-03ee529ffe2a | yes
id=="" | 2b94c631-fca9-4892-a730-03ee529ffe2a | no
id>2b94c631-fca9-4892-a730-03ee529ffe29 | 2b94c631-fca9-4892-a730-03ee529ffe2a | yes
id>2b94c631-fca9-4892-a730-03ee529ffe2a | 2b94c631-fca9-4892-a730-03ee529ffe2a | no
id>=2B94c631-fca9-4892-a730-03ee529ffe2a | 2b94c631-fca9-4892-a730-03ee529ffe2a | yes
id<2b94c631-fca9-4892-a730-03ee529ffe2b | 2b94c631-fca9-4892-a730-03ee529ffe2a | yes
id<=2b94c631-fca9-4892-a730-03ee529ffe29 | 2b94c631-fca9-4892-a730-03ee529ffe2a | no
id>x | 2b94c631-fca9-4892-a730-03ee529ffe2a | 400 CQL: Invalid UUID after 'id>': x
id=="2b*c" | 2b94c631-fca9-4892-a730-03ee529ffe2a | 400 CQL: only right truncation supported for id:  2b*c
id all x | 2b94c631-fca9-4892-a730-03ee529ffe2a | 400 CQL: Unsupported operator 'all', UUID id only supports '=', '==', and '<>' (possibly with right truncation)
id adj x | 2b94c631-fca9-4892-a730-03ee529ffe2a | 400 CQL: Unsupported operator 'adj', UUID id only supports '=', '==', and '<>' (possibly with right truncation)
id ==/number 5 | 2b94c631-fca9-4892-a730-03ee529ffe2a | 400 CQL: Unsupported modifier number
