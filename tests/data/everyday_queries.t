# Queries of the published load plans and of FOLIO's front end: table, tab, query. None may read
# documents to decide or sort, none may walk a whole table that grows.
# Source: spec/workloads.md, spec/web-ui.md, spec/circulation.md.
users	barcode=="V"
users	(barcode=="UB" OR externalSystemId=="UB" OR id=="UB" OR username=="UB")
users	(active="true") sortby personal.lastName personal.firstName
users	active=="true"
users	(id==(0bab56e5-1ab6-4ac2-afdf-8b2df0434378 or 0bab56e5-1ab6-4ac2-afdf-8b2df0434379))
users	(patronGroup==0bab56e5-1ab6-4ac2-afdf-8b2df0434378) sortby personal.lastName
users	(keywords="smith*" and active==true) sortby personal.lastName personal.firstName
users	username=="jo*" or personal.lastName=="jo*" or personal.email=="jo*"
groups	cql.allRecords=1 sortby group
groups	(id==0bab56e5-1ab6-4ac2-afdf-8b2df0434378)
departments	cql.allRecords=1 sortby name
proxyfor	query=(userId==0bab56e5-1ab6-4ac2-afdf-8b2df0434378)
proxyfor	query=(proxyUserId==0bab56e5-1ab6-4ac2-afdf-8b2df0434378)
item	barcode=="IB"
item	holdingsRecordId==0bab56e5-1ab6-4ac2-afdf-8b2df0434378
item	holdingsRecordId==0bab56e5-1ab6-4ac2-afdf-8b2df0434378 sortby order
item	id==(0bab56e5-1ab6-4ac2-afdf-8b2df0434378 or 0bab56e5-1ab6-4ac2-afdf-8b2df0434379)
item	status.name==Available sortby barcode
item	instance.title==emma
holdings_record	instanceId==0bab56e5-1ab6-4ac2-afdf-8b2df0434378
instance	("hrid"=="in1" or "id"=="0bab56e5-1ab6-4ac2-afdf-8b2df0434378")
instance	item.barcode==b1
instance	title all "emma" sortby title
instance	languages="spa"
instance	isbn="9780552142*"
service_point	(pickupLocation==true) sortby name
service_point_user	userId==0bab56e5-1ab6-4ac2-afdf-8b2df0434378
location	cql.allRecords=1 sortby name
material_type	cql.allRecords=1 sortby name
loan	(userId==0bab56e5-1ab6-4ac2-afdf-8b2df0434378) sortby id
loan	(userId==0bab56e5-1ab6-4ac2-afdf-8b2df0434378 and status.name==Open)
loan	(userId==0bab56e5-1ab6-4ac2-afdf-8b2df0434378 and status.name<>Closed)
loan	itemId==0bab56e5-1ab6-4ac2-afdf-8b2df0434378 and status.name==Open
loan	itemId==(0bab56e5-1ab6-4ac2-afdf-8b2df0434378 or 0bab56e5-1ab6-4ac2-afdf-8b2df0434379) and status.name==Open
loan	status.name==Open and dueDate<"2024-05-01T10:00:00.000Z" sortby dueDate
request	(requesterId==0bab56e5-1ab6-4ac2-afdf-8b2df0434378 and status=="Open*")
request	(requesterId==0bab56e5-1ab6-4ac2-afdf-8b2df0434378 and pickupServicePointId=0bab56e5-1ab6-4ac2-afdf-8b2df0434379 and status=="Open - Awaiting pickup")
request	(itemId=="0bab56e5-1ab6-4ac2-afdf-8b2df0434378" and (status=="Open - Awaiting pickup" or status=="Open - Awaiting delivery"))
request	(instanceId=="0bab56e5-1ab6-4ac2-afdf-8b2df0434378" and status=Open)
request	itemId==0bab56e5-1ab6-4ac2-afdf-8b2df0434378 and status==("Open - Not yet filled" or "Open - In transit") sortby position/sort.ascending
request	(status=="Open*") sortby requestDate
user_request_preference	(userId=="0bab56e5-1ab6-4ac2-afdf-8b2df0434378")
audit_loan	loan.id==0bab56e5-1ab6-4ac2-afdf-8b2df0434378
patron_action_session	patronId==0bab56e5-1ab6-4ac2-afdf-8b2df0434378
scheduled_notice	nextRunTime<"2024-05-01T10:00:00.000Z" and noticeConfig.sendInRealTime==true sortby nextRunTime
manualblocks	userId==0bab56e5-1ab6-4ac2-afdf-8b2df0434378
accounts	(userId==0bab56e5-1ab6-4ac2-afdf-8b2df0434378)
accounts	(userId==0bab56e5-1ab6-4ac2-afdf-8b2df0434378 and status.name<>Closed)
accounts	loanId=="0bab56e5-1ab6-4ac2-afdf-8b2df0434378"
feefineactions	(userId==0bab56e5-1ab6-4ac2-afdf-8b2df0434378)
feefineactions	(accountId==0bab56e5-1ab6-4ac2-afdf-8b2df0434378)
feefines	(ownerId==0bab56e5-1ab6-4ac2-afdf-8b2df0434378 or ownerId==0bab56e5-1ab6-4ac2-afdf-8b2df0434379)
config_data	(module==ORG and configName==localeSettings)
config_data	(module==ORG AND configName == localeSettings AND (cql.allRecords=1 NOT userId="" NOT code=""))
config_data	(module==CHECKOUT and configName==other_settings)
permissions	(mutable==true)
permissions	permissionName==(users.item.get or users.item.put)
permissions_users	userId==0bab56e5-1ab6-4ac2-afdf-8b2df0434378
