"""DynamoDB's items: one engine behind moto's API and behind the clients of this process.

moto's tables are not atomic across threads, copy themselves for a transaction, and forget. Here
`syntax` and `expressions` read the expression language once for each text, `values` knows types,
order and sizes, `table` keeps items in order and their indexes, `requests` checks what is asked,
`engine` answers one request at a time and has it stored before it returns.
"""
