"""EventBridge Scheduler: moto keeps the schedules, this fires them.

`expressions` says when a schedule is due, as AWS reads its expression. `backend` refuses what AWS
refuses and moto does not. `firing` looks every moment which schedules are due, and calls them.
"""
