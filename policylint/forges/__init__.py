"""The one comment of a pull request: on GitHub, GitLab, Azure DevOps and Bitbucket.

The only room that can open a connection, and only `policylint comment` imports it. What is said is `report/diff/`'s.
"""
