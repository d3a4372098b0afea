"""Schedules: runs started by the clock.

1. `cron` reads a cron expression strictly, `timing` all parameters of a `trigger.schedule`.
2. `occurrences` says when it is due, from the parameters alone; `expressions` says the same in the
   words of EventBridge Scheduler, or why it cannot.
3. `model` is what is kept: the registration of a workflow's schedules, and the slot of each time.
   `ports` are the stores and the Scheduler.
4. `part` registers what a workflow wants, by difference; `drift` compares with what is there.
5. `firing` starts the run of a slot; `missing` looks for slots that nothing fired; `rounds` does
   so in all mandates, a piece each time.
6. `service` shows all this.
"""
