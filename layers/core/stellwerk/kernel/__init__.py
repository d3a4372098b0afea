"""Words that every domain needs: errors, ids, time, JSON and pages. Imports nothing of ours."""
