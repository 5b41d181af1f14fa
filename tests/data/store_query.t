# Queries over the books of store_query_test.c: the query, then the numbers of the matching records
# in order (-: none), "docs:" before them if documents must be read, or "error" and its text.

cql.allRecords=1
1 2 3 4 5 6

barcode==b100
1

barcode=="B10*"
1 2

barcode==*1*
1 2

barcode=="b1?1"
2

barcode<>b100
2 3

barcode==""
-

barcode<>""
1 2 3

cql.allRecords=1 not barcode=""
4 5 6

cql.allRecords=1 not barcode==b100
2 3 4 5 6

barcode=""
1 2 3

barcode=*
1 2 3 4 5 6

title=="ecole"
6

title==École
6

title=="E*"
1 6

title=="*a*"
1 3 4 5

title=="h* potter*"
5

title=sensibility
2

title="sense sensibility"
2

title="sense & sensibility"
2

title="potter harry"
-

title all "potter harry"
5

title any "emma nana xyz"
1 4

title="har*"
5

title="har* potter"
docs: 5

title=""
1 2 3 4 5 6

title="*"
1 2 3 4 5 6

title="."
-

title="po?ter"
error ? wildcard

title>"h" sortby title
5 4 2

title<="emma" sortby title/sort.descending
1 6

status.name==(Available or "In transit")
1 3 4

status.name==Available and lost==true
3

status.name==Available not lost==true
1

lost==true or pages>900
3

lost=true
3

lost==tr*
3

lost<>true
1 2

lost==""
-

lost==maybe
-

pages==400
1

pages==400.0
-

pages==/number 400.0
1

pages>/number 60
1 3

pages>60
1 3

pages==/number x
error number

pages==4*
docs: 1

price==5
docs: 5

price==/number 5.50
docs: 4

price>/number 5
docs: 4

dueDate=="2024-05-01T12:00:00.000+02:00"
2

dueDate=="2024-05-01*"
2

dueDate=="2024-0*"
docs: 2 3

dueDate=="2024*"
2 3

dueDate>"2024-05-01"
2 3

dueDate<"2024-05-02"
2

dueDate>="2024-05"
2 3

dueDate<"2024-05"
-

dueDate<>"2024-05-01T10:00:00Z"
3

dueDate=""
2 3

cql.allRecords=1 not dueDate=""
1 4 5 6

id=="00000000-0000-4000-8000-000000000003"
3

id==("00000000-0000-4000-8000-000000000003" or "00000000-0000-4000-8000-00000000000X" or 00000000-0000-4000-8000-000000000001)
1 3

id==x
-

id<>x
1 2 3 4 5 6

id=*
1 2 3 4 5 6

id=="00000000*"
1 2 3 4 5 6

id=="1*"
-

id>"00000000-0000-4000-8000-000000000004" sortby id
5 6

id>x
error Invalid UUID after 'id>'

id all x
error Unsupported operator 'all'

authorId==00000000-0000-4000-8000-000000000001
1 2

authorId<>00000000-0000-4000-8000-000000000001
3 4

authorId=""
1 2 3 4

author.name=="jane austen"
1 2

author.name=zola
3 4

author.name==("jane austen" or "émile zola")
1 2 3 4

author.born==1840
3 4

author.id=*
1 2 3 4

author.nothing==1
-

lang=eng
1 2

lang=en
5

lang==en
-

lang=="*\"fre\"*"
2

lang=="[]"
3 4 6

lang=="[\"eng\"]"
1

lang=="[\"eng\", \"fre\"]"
2

identifiers=isbn
2 5

identifiers=="*\"123 456\"*"
docs: 5

identifiers =/@typeId=isbn 456
docs: 5

identifiers =/@typeId=issn 456
docs: -

identifiers =/@typeid=issn 777
docs: 5

identifiers ==/@typeId=isbn "123 456"
docs: 5

identifiers =/@typeId issn
docs: 5

identifiers =/@foo=1 x
error Unsupported relation modifier @foo

title =/@typeId=1 x
error No arraySubfield defined for index title

keywords=978
2

keywords="potter 777"
-

keywords="456 777"
5

keywords==*chamber*
docs: 5

note==gift*
docs: 1

note=="*a\*b*"
docs: 1

note=="*50% off*"
docs: 1

note="potter"
docs: 4

note<>x
docs: 1 4

note<>x and barcode=b*
docs: 1

cql.allRecords=1 not note=potter
docs: 1 2 3 5 6

note=potter or barcode==b101
docs: 2 4

(note=potter or barcode==b101) and pages<10
docs: 4

cql.allRecords=1 not (note=potter or barcode==b101)
docs: 1 3 5 6

place==A
-

place==a
5

place>A
docs: 4 5

doesNotExist==1
-

status.nothing==1
-

cql.allRecords=1 not doesNotExist==1
1 2 3 4 5 6

"field'))--"=x
-

metadata.createdDate=="2024-05-01T14:51:30.123+02:00"
docs: 1 2 3 4 5 6

metadata.createdDate>"2024-05-01T12:51:30.123Z"
docs: -

metadata.createdDate=2024
docs: 1 2 3 4 5 6

cql.allRecords=1 sortby title
6 1 3 5 4 2

cql.allRecords=1 sortby barcode
1 2 3 4 5 6

cql.allRecords=1 sortby barcode/sort.descending
6 5 4 3 2 1

cql.allRecords=1 sortby pages
4 2 1 3 5 6

cql.allRecords=1 sortby status.name/sort.descending title
6 5 4 2 1 3

cql.allRecords=1 sortby note
4 1 2 3 5 6

cql.allRecords=1 sortby note/sort.descending
6 5 3 2 1 4

cql.allRecords=1 sortby price/number
5 4 1 2 3 6

cql.allRecords=1 sortby title/respectCase
6 1 3 5 4 2

cql.allRecords=1 sortby title/respectAccents
1 3 5 4 2 6

cql.allRecords=1 sortby author.name
1 2 3 4 5 6

cql.allRecords=1 sortby doesNotExist
1 2 3 4 5 6

note=* sortby note pages/sort.descending
4 1 6 5 3 2

Jane
error CQL

title=/regexp x
error Unsupported modifier regexp
