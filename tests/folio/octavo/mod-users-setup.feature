Feature: users of the tests of mod-users, which bring no set-up of their own

  Background:
    * url baseUrl
    * table modules
      | name              |
      | 'mod-users'       |
      | 'mod-login'       |
      | 'mod-permissions' |
      | 'okapi'           |

    * table userPermissions
      | name                                |
      | 'users.all'                         |
      | 'users.collection.get'              |
      | 'users.item.get'                    |
      | 'users.item.post'                   |
      | 'users.item.put'                    |
      | 'users.item.delete'                 |
      | 'usergroups.item.post'              |
      | 'usergroups.collection.get'         |
      | 'proxiesfor.item.post'              |
      | 'users.profile-picture.item.get'    |
      | 'users.profile-picture.item.post'   |
      | 'users.profile-picture.item.put'    |
      | 'users.profile-picture.item.delete' |
      | 'users.configurations.item.get'     |
      | 'users.configurations.item.put'     |

  Scenario: create tenant and users for testing
    Given call read('classpath:common/setup-users.feature')
