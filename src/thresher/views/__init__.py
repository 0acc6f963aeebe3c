"""Draw pages on terminals, and pictures of releases, plans, budgets and streams.

    text, terminal                 paragraphs; a page as coloured text
    svg                            the frame, axes and marks of all SVG pictures
    stream_picture, budget_levels  records of a stream; the budgets of people
    forecast_page                  the page of a roster
    count_map, count_scatter       counts that an attack found against the true counts

Start with `svg` or `terminal`; the others are independent of each other.
Reads: pages, releases. Writes: nothing. Never: exact values that are secret; text with control codes of a terminal.
"""
