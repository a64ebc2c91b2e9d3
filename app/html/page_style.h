// The style sheet of the pages. Drawings take their colours from its classes: s0 to s9 are series (Okabe and
// Ito 2008, then others that are distinct in light and dark).
#pragma once

#include <string_view>

namespace imgpipe {

inline constexpr int kSeriesColors = 10;

inline constexpr std::string_view kPageStyle = R"css(
:root{color-scheme:light dark;--page:#fff;--onbar:#fff;--text:#1b1f24;--soft:#59616b;--line:#d5dae0;--frame:#6b7480;
--panel:#f5f7f9;--link:#0b5cad;--bad:#b3261e;--r:#d62728;--g:#2ca02c;--b:#1f5fd6;--k:#3b4252;--range:#9c5200;
--s0:#0072b2;--s1:#d55e00;--s2:#009e73;--s3:#b5609a;--s4:#c98a00;--s5:#3a9bd9;--s6:#8c564b;--s7:#7a5195;
--s8:#5f6b7a;--s9:#7d8a00}
@media (prefers-color-scheme:dark){:root{--page:#14181d;--onbar:#10151a;--text:#e4e8ec;--soft:#a3adb8;--line:#343c46;
--frame:#8b96a3;--panel:#1c2229;--link:#7cb8ff;--bad:#ff8a80;--r:#ff6b6b;--g:#51cf66;--b:#74a9ff;--k:#aab6c5;
--range:#ffb454;--s0:#4aa8e0;--s1:#ff8a3d;--s2:#2fc79a;--s3:#e08cc4;--s4:#f0b429;--s5:#8fd0ff;--s6:#c9897c;
--s7:#b493d8;--s8:#9aa7b5;--s9:#c0cf3a}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1rem;max-width:72rem;background:var(--page);color:var(--text);
font:16px/1.5 system-ui,"DejaVu Sans",sans-serif;overflow-wrap:anywhere}
h1{font-size:1.6rem;line-height:1.25;margin:.5rem 0 1rem}
h2{font-size:1.25rem;margin:2.2rem 0 .6rem;padding-top:.6rem;border-top:1px solid var(--line)}
h4{font-size:1rem;margin:1.2rem 0 .2rem}h3{font-size:1.05rem;margin:1.4rem 0 .4rem}
a{color:var(--link)}p{margin:.5rem 0}.note{color:var(--soft)}.bad{color:var(--bad);font-weight:600}
nav ul{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;list-style:none;padding:0;margin:0 0 1rem}
dl{display:grid;grid-template-columns:minmax(6rem,max-content) minmax(0,1fr);gap:.2rem 1rem;margin:.8rem 0}
dt{color:var(--soft)}dd{margin:0}
code,pre{font:13px/1.45 ui-monospace,"DejaVu Sans Mono",monospace}
pre{overflow-x:auto;overflow-wrap:normal;background:var(--panel);border:1px solid var(--line);padding:.7rem;
margin:.5rem 0}
figure{margin:1rem 0}figcaption{font-weight:600;margin-bottom:.3rem}
.scroll{overflow-x:auto}.scroll>svg{display:block;width:100%;min-width:46rem;height:auto}
.legend{display:flex;flex-wrap:wrap;gap:.1rem 1.2rem;list-style:none;padding:0;margin:.2rem 0 .4rem;font-size:.875rem}
.mark{display:inline-block;width:.85em;height:.85em;border-radius:2px;margin-right:.45em;vertical-align:-.08em;
background:currentColor}.mark.limit{width:1.6em;height:0;border-top:2px dashed;border-radius:0;vertical-align:.28em;
background:none;color:var(--range)}.mark.faint{color:var(--soft);opacity:.45}
table{border-collapse:collapse;font-size:.875rem;font-variant-numeric:tabular-nums;overflow-wrap:normal}
caption{text-align:left;font-weight:600;padding:.3rem 0}
th,td{padding:.2rem .7rem;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
thead th{color:var(--soft);font-weight:600}th.left,td.left{text-align:left}tbody th{font-weight:500}
td.wide{white-space:normal;min-width:20rem}
details{margin:.6rem 0}summary{cursor:pointer}summary:focus-visible,.scroll:focus-visible{outline:2px solid var(--link)}
.pictures{display:flex;flex-wrap:wrap;gap:1.5rem}.pictures figure{margin:0;max-width:100%}
.pictures img{display:block;max-width:min(100%,320px);max-height:320px;height:auto;min-width:1rem;min-height:1rem;
border:1px solid var(--line)}
svg text{font:12px system-ui,"DejaVu Sans",sans-serif;fill:var(--text)}svg .tick{font-size:11px;fill:var(--soft)}
svg .title,svg .panel{font-size:13px;font-weight:600}svg .grid{stroke:var(--line)}svg .axis{stroke:var(--frame)}
svg .limit{stroke:var(--range);stroke-width:1.5;stroke-dasharray:6 4}svg .whisker{stroke:var(--frame);stroke-width:1.5}
svg .onbar{fill:var(--onbar);font-size:11px}svg .lane{fill:var(--panel)}
svg .faint{opacity:.45}svg .mark{stroke-width:1.5}svg .marktext{font-weight:600}
svg .plane-r{fill:var(--r)}svg .plane-g{fill:var(--g)}svg .plane-b{fill:var(--b)}svg .plane-k{fill:var(--k)}
svg .range-r{stroke:var(--r)}svg .range-g{stroke:var(--g)}svg .range-b{stroke:var(--b)}svg .range-k{stroke:var(--range)}
svg text.range-r{stroke:none;fill:var(--r)}svg text.range-g{stroke:none;fill:var(--g)}
svg text.range-b{stroke:none;fill:var(--b)}svg text.range-k{stroke:none;fill:var(--range)}
.s0{fill:var(--s0);color:var(--s0)}.s1{fill:var(--s1);color:var(--s1)}.s2{fill:var(--s2);color:var(--s2)}
.s3{fill:var(--s3);color:var(--s3)}.s4{fill:var(--s4);color:var(--s4)}.s5{fill:var(--s5);color:var(--s5)}
.s6{fill:var(--s6);color:var(--s6)}.s7{fill:var(--s7);color:var(--s7)}.s8{fill:var(--s8);color:var(--s8)}
.s9{fill:var(--s9);color:var(--s9)}
@media print{.scroll{overflow:visible}}
)css";

}  // namespace imgpipe
