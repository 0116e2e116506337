// The style sheet and the hatchings of pages. web/src/style.css states the same look for the
// console.
#pragma once

#include <string_view>

namespace fairlead {

inline constexpr std::string_view kPageStyle = R"css(
:root{color-scheme:light dark;--bg:#fff;--fg:#1b1f23;--muted:#59636d;--line:#d9dee3;--accent:#0072b2}
@media (prefers-color-scheme:dark){:root{--bg:#14171a;--fg:#e3e6e8;--muted:#98a2ab;--line:#2c3238;--accent:#56b4e9}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--fg);font:14px/1.45 system-ui,sans-serif;font-variant-numeric:tabular-nums}
main{max-width:1100px;margin:0 auto;padding:16px}
header{display:flex;flex-wrap:wrap;gap:4px 16px;align-items:baseline;border-bottom:1px solid var(--line);padding-bottom:8px}
h1{font-size:18px;margin:0}
h2{font-size:14px;margin:24px 0 6px;border-bottom:1px solid var(--line);padding-bottom:3px}
p{margin:4px 0;max-width:80ch}
.muted,th,figcaption{color:var(--muted)}
.said{margin-top:12px}
.said p{font-size:16px}
figure{margin:14px 0 0}
figcaption{display:flex;justify-content:space-between;margin-bottom:3px}
svg{display:block;overflow:visible}
td svg{margin-top:4px}
svg.bar{width:100%;height:26px}
svg.swatch{width:22px;height:12px}
svg.plot{width:170px;height:14px}
td svg.bar{width:170px;height:12px}
.scroll{overflow-x:auto;margin:6px 0 12px}
table{border-collapse:collapse}
th{font-weight:400;text-align:left;white-space:nowrap;border-bottom:1px solid var(--line)}
td,th{padding:2px 16px 2px 0;vertical-align:top}
td:last-child,th:last-child{padding-right:0}
td{white-space:nowrap}
td.text{white-space:normal;min-width:14em;overflow-wrap:anywhere}
.n{text-align:right}
tbody tr:last-child.sum td{border-top:1px solid var(--line)}
.edge{stroke:var(--fg);stroke-width:1}
svg.plot .edge{fill:none}
.cell{stroke:var(--bg);stroke-width:1}
.down{stroke:var(--muted);stroke-width:1}
.ink{stroke:var(--fg);fill:var(--fg)}
@media print{:root{color-scheme:light;--bg:#fff;--fg:#000;--muted:#444;--line:#bbb}
body{font-size:10px;print-color-adjust:exact;-webkit-print-color-adjust:exact}
main{max-width:none;padding:0}section,figure,tr{break-inside:avoid}.scroll{overflow:visible}}
)css";

inline constexpr std::string_view kHatchings =
    R"svg(<svg width="0" height="0" style="position:absolute" aria-hidden="true"><defs>
<pattern id="h-useful" width="8" height="8" patternUnits="userSpaceOnUse"><rect width="8" height="8" fill="#0072B2"/></pattern>
<pattern id="h-held_idle" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6" fill="#E69F00"/><path d="M-1 1l2-2M0 6l6-6M5 7l2-2" stroke="#5a3d00" stroke-width="1.2"/></pattern>
<pattern id="h-held_unmeasured" width="5" height="5" patternUnits="userSpaceOnUse"><rect width="5" height="5" fill="#9AA3AB"/><circle cx="2.5" cy="2.5" r="1" fill="#3B4148"/></pattern>
<pattern id="h-lost" width="7" height="7" patternUnits="userSpaceOnUse"><rect width="7" height="7" fill="#D55E00"/><path d="M0 0l7 7M7 0l-7 7" stroke="#3d1a00" stroke-width="1"/></pattern>
<pattern id="h-reserved" width="5" height="5" patternUnits="userSpaceOnUse"><rect width="5" height="5" fill="#CC79A7"/><path d="M2.5 0v5" stroke="#552b43" stroke-width="1"/></pattern>
<pattern id="h-stranded" width="7" height="7" patternUnits="userSpaceOnUse"><path d="M-1 6l2 2M0 0l7 7M6 -1l2 2" stroke="var(--fg)" stroke-width="1"/></pattern>
<pattern id="h-down" width="8" height="8" patternUnits="userSpaceOnUse"><rect width="8" height="8" fill="#3B4148"/></pattern>
</defs></svg>)svg";

}  // namespace fairlead
