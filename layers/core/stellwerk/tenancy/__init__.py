"""Who may do what: mandates, features, instances, roles, access rules, and the scope of a call."""
