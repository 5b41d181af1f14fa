# Clauses

a=b
[a = 'b']

a == b
[a == 'b']

personal.lastName <> "x y"
[personal.lastName <> 'x y']

a<1
[a < '1']

a<=1
[a <= '1']

a >/number 5
[a >/number '5']

a >= "2024-01-31"
[a >= '2024-01-31']

title all "red house"
[title all 'red house']

title ANY red house
[title ANY 'red house']

title adj "red house"
[title adj 'red house']

"personal.lastName"==x
[personal.lastName == 'x']

title =  two   words "and a phrase"
[title = 'two words and a phrase']

a=""
[a = '']

a="x\"y\\z\*"
[a = 'x\"y\\z\*']

a=x\ y
[a = 'x\ y']

a=x"y z"
[a = 'x y z']

name = and
[name = 'and']

name = "all"
[name = 'all']

a all all
[a all 'all']

a==${user_id}
[a == '${user_id}']

a=x:y|z&w;q,r
[a = 'x:y|z&w;q,r']

a="x(y)/z=1"
[a = 'x(y)/z=1']

a==ü*
[a == 'ü*']

userId==NOT_FOUND
[userId == 'NOT_FOUND']

# Booleans: one precedence, from left to right; chains of one kind are one node

a=1 or b=2 and c=3
(and (or [a = '1'] [b = '2']) [c = '3'])

a=1 and b=2 and c=3
(and [a = '1'] [b = '2'] [c = '3'])

a=1 or b=2 or c=3 or d=4
(or [a = '1'] [b = '2'] [c = '3'] [d = '4'])

a=1 or (b=2 or c=3) or d=4
(or [a = '1'] [b = '2'] [c = '3'] [d = '4'])

a=1 and (b=2 or c=3)
(and [a = '1'] (or [b = '2'] [c = '3']))

a=1 not b=2 not c=3
(not (not [a = '1'] [b = '2']) [c = '3'])

a=1 NOT (b=2 AND c=3)
(not [a = '1'] (and [b = '2'] [c = '3']))

a=1 OR b=2 Or c=3 oR d=4
(or [a = '1'] [b = '2'] [c = '3'] [d = '4'])

((a=1))
[a = '1']

# A relation over parentheses

status.name==(Open or "In transit")
(or [status.name == 'Open'] [status.name == 'In transit'])

status=(A OR B) and b=1
(and (or [status = 'A'] [status = 'B']) [b = '1'])

a all/respectCase (x y or z)
(or [a all/respectcase 'x y'] [a all/respectcase 'z'])

id==(u1 or u2 or u3)
(or [id == 'u1'] [id == 'u2'] [id == 'u3'])

x=(a=1 or b)
(or [a = '1'] [x = 'b'])

query=(userId==X)
[userId == 'X']

query=query=(userId==X)
[userId == 'X']

a=b=c
[b = 'c']

# Everything

cql.allRecords=1
all

CQL.ALLRECORDS=0
all

cql.allRecords = 1 sortby name
all sort name

(cql.allRecords=1) sortBy name
all sort name

cql.allRecords=1 NOT email=""
(not all [email = ''])

cql.allRecords=1 and a=1 and b=2
(and [a = '1'] [b = '2'])

a=1 and cql.allRecords=1
[a = '1']

a=1 or cql.allRecords=1
(or [a = '1'] all)

# Modifiers

identifiers =/@identifierTypeId=U 0552
[identifiers =/@identifiertypeid=U '0552']

contributors =/@Name/@lang="en us" x
[contributors =/@name/@lang=en us 'x']

a ==/Number/ignoreCase 5
[a ==/number/ignorecase '5']

a =/regexp x
error 400 CQL: Unsupported modifier regexp

a =/@lang>en x
error 400 CQL: Unsupported comparison for relation modifier @lang

a =/unmasked x
error 400 CQL: Unsupported modifier unmasked

a or/rel.x b
error 400 CQL: cql.serverChoice requested, but no serverChoiceIndexes defined: a or/rel.x b

a=1 or/rel.combine=sum b=2
error 400 CQL: Unsupported modifier rel.combine

a=1 and/x b=2
error 400 CQL: Unsupported modifier x

# Sorting

a=1 sortby b
[a = '1'] sort b

a=1 SortBy b/sort.descending c/sort.ascending/number d
[a = '1'] sort b/descending sort c/number sort d

a=1 sortby "b c"/respectCase/respectAccents/ignoreAccents
[a = '1'] sort b c/case

a=1 sortby b/regexp
error 400 CQL: Unsupported modifier regexp

a=1 sortby b/@x
error 400 CQL: Unsupported modifier @x

a=1 sortby b and c
[a = '1'] sort b sort and sort c

(a=1 sortby b)
error 400 CQL: expected ), got sortby, at position 6: (a=1 sortby b)

a=1 sortby
error 400 CQL: no sort keys, at position 11: a=1 sortby

a=1 sortby b/
error 400 CQL: expected modifier, got EOF, at position 14: a=1 sortby b/

a=1 sortby /b
error 400 CQL: no sort keys, at position 12: a=1 sortby /b

a=1 sortby b (
error 400 CQL: junk after end: (, at position 14: a=1 sortby b (

a=1 sortby b =
error 400 CQL: junk after end: =, at position 14: a=1 sortby b =

sortby a
error 400 CQL: cql.serverChoice requested, but no serverChoiceIndexes defined: sortby a

# Bare terms and relations that storage does not know

Jane
error 400 CQL: cql.serverChoice requested, but no serverChoiceIndexes defined: Jane

Jane Doe
error 400 CQL: cql.serverChoice requested, but no serverChoiceIndexes defined: Jane Doe

a=1 and Jane
error 400 CQL: cql.serverChoice requested, but no serverChoiceIndexes defined: a=1 and Jane

cql.serverChoice=Jane
error 400 CQL: cql.serverChoice requested, but no serverChoiceIndexes defined: cql.serverChoice=Jane

name within "a b"
error 400 CQL: Unsupported relation within: name within "a b"

name encloses x
error 400 CQL: Unsupported relation encloses: name encloses x

name exact b
error 400 CQL: Unsupported relation exact: name exact b

name cql.foo b
error 400 CQL: Unsupported relation cql.foo: name cql.foo b

title=report no. 5
error 400 CQL: Unsupported relation no.: title=report no. 5

a=1 prox b=2
error 400 CQL: Unsupported boolean prox: a=1 prox b=2

> dc="http://x" dc.title=x
error 400 CQL: Unsupported prefix assignment, at position 1: > dc="http://x" dc.title=x

(> dc="http://x" dc.title=x)
error 400 CQL: Unsupported prefix assignment, at position 2: (> dc="http://x" dc.title=x)

a=1 and > dc="x" dc.b=2
error 400 CQL: expected index or term, got >, at position 9: a=1 and > dc="x" dc.b=2

# Syntax

a=
error 400 CQL: expected index or term, got EOF, at position 3: a=

a
error 400 CQL: cql.serverChoice requested, but no serverChoiceIndexes defined: a

a=1 and
error 400 CQL: expected index or term, got EOF, at position 8: a=1 and

a=1 or or b=2
error 400 CQL: unexpected relation '=', at position 12: a=1 or or b=2

not a=1
error 400 CQL: unexpected relation '=', at position 6: not a=1

a=1 and not b=2
error 400 CQL: unexpected relation '=', at position 14: a=1 and not b=2

a=1)
error 400 CQL: junk after end: ), at position 4: a=1)

(a=1
error 400 CQL: expected ), got EOF, at position 5: (a=1

((a=1)
error 400 CQL: expected ), got EOF, at position 7: ((a=1)

()
error 400 CQL: expected index or term, got ), at position 2: ()

a=()
error 400 CQL: expected index or term, got ), at position 4: a=()

a=1 (
error 400 CQL: expected boolean, got (, at position 5: a=1 (

a=(b) c
error 400 CQL: expected boolean, got c, at position 7: a=(b) c

name=a/b
error 400 CQL: expected boolean, got /, at position 7: name=a/b

a/x=b
error 400 CQL: expected boolean, got /, at position 2: a/x=b

a=1 b=2
error 400 CQL: unexpected relation '=', at position 6: a=1 b=2

a=1 b==2
error 400 CQL: unexpected relation '==', at position 6: a=1 b==2

a="x
error 400 CQL: quoted term without closing quote, at position 3: a="x

a="x\"
error 400 CQL: quoted term without closing quote, at position 3: a="x\"

a="
error 400 CQL: quoted term without closing quote, at position 3: a="

a=x"y
error 400 CQL: quoted term without closing quote, at position 4: a=x"y

a=/ b
error 400 CQL: expected index or term, got EOF, at position 6: a=/ b

a=/x= b
error 400 CQL: expected index or term, got EOF, at position 8: a=/x= b

a=>b
error 400 CQL: expected index or term, got >, at position 3: a=>b

a=b/c sortby d
error 400 CQL: expected boolean, got /, at position 4: a=b/c sortby d

/
error 400 CQL: expected index or term, got /, at position 1: /

=
error 400 CQL: expected index or term, got =, at position 1: =

=x
error 400 CQL: expected index or term, got =, at position 1: =x

<>
error 400 CQL: expected index or term, got <>, at position 1: <>

"x"
error 400 CQL: cql.serverChoice requested, but no serverChoiceIndexes defined: "x"

é é é)
error 400 CQL: junk after end: ), at position 6: é é é)

a=1 and (b=2 or c=)
error 400 CQL: expected index or term, got ), at position 19: a=1 and (b=2 or c=)

a=v1.2 v1.3
error 400 CQL: expected index or term, got EOF, at position 12: a=v1.2 v1.3

