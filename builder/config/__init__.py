"""The site's wiring: settings, URLs, server, jobs, sign-in. The only place that knows everything.

Stays empty of imports: `builder.config.bootstrap` is loaded from here before anything is installed.
"""
