"""The style sheet that every page carries inside: light and dark, wide and narrow, Latin and Japanese."""

#: Colours of series, in order: blue, orange, green, violet. The first two differ for people who see no red or green.
SERIES = 4

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #fcfcfb; --card: #ffffff; --ink: #1c1e21; --soft: #5c636b; --line: #dcdfe3; --mark: #b3261e;
  --series-0: #2f6fb5; --series-1: #d9822b; --series-2: #3f8f5f; --series-3: #7a5ea8;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #15171a; --card: #1d2024; --ink: #e6e8ea; --soft: #a2a9b1; --line: #363b41; --mark: #f2867d;
    --series-0: #6ea8e6; --series-1: #eba35c; --series-2: #74bf93; --series-3: #b39ae0;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 64rem; background: var(--paper); color: var(--ink);
  font: 15px/1.55 system-ui, -apple-system, "Segoe UI", "Hiragino Sans", "Yu Gothic UI", "Noto Sans CJK JP",
    "Noto Sans JP", "IPAGothic", sans-serif;
}
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 1rem; }
h2 { font-size: 1.1rem; margin: 0 0 .6rem; }
section {
  background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 1rem 1.25rem; margin: 0 0 1rem;
}
p { margin: .4rem 0; max-width: 46rem; overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td {
  text-align: left; vertical-align: top; padding: .3rem .7rem .3rem 0; border-bottom: 1px solid var(--line);
  min-width: 4.5rem; overflow-wrap: anywhere;
}
th { color: var(--soft); font-weight: 600; overflow-wrap: normal; }
tr:last-child td { border-bottom: 0; }
td.number, th.number { min-width: 0; text-align: right; white-space: nowrap; }
figure { margin: .8rem 0 1rem; }
figcaption { color: var(--soft); margin-bottom: .3rem; }
svg { display: block; width: 100%; height: auto; max-width: 48rem; }
svg text { font-size: 12px; fill: var(--soft); }
svg text.strong { fill: var(--ink); }
svg .axis { stroke: var(--line); stroke-width: 1; }
svg .threshold { stroke: var(--mark); stroke-width: 1.5; stroke-dasharray: 4 3; }
svg text.threshold-label { fill: var(--mark); stroke: var(--card); stroke-width: 4px; paint-order: stroke; }
.series-0 { fill: var(--series-0); } .series-1 { fill: var(--series-1); }
.series-2 { fill: var(--series-2); } .series-3 { fill: var(--series-3); }
@media print { body { max-width: none; } section { break-inside: avoid; } }
"""
