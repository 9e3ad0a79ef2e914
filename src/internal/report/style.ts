/** The style sheet of the page: no images, no fonts of its own. */
import { dark, light, properties } from "../charts/palette.js"

const lightPage = `--page:${light.surface};--panel:#f5f7f9;--text:${light.text};--muted:${light.muted};--rule:${light.rule};--accent:${light.accent};--bad:${light.bad};--good:#14683a;--note:#fff6e0;--note-rule:#e0b341;--shade:#0002`

const darkPage = `--page:${dark.surface};--panel:#191f26;--text:${dark.text};--muted:${dark.muted};--rule:${dark.rule};--accent:${dark.accent};--bad:${dark.bad};--good:#6fd39a;--note:#2a2413;--note-rule:#8a6d1f;--shade:#fff2`

export const style = `
:root{color-scheme:light dark;${lightPage};${properties(light)}}
@media screen and (prefers-color-scheme:dark){:root{${darkPage};${properties(dark)}}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%;scroll-behavior:smooth}
body{margin:0;background:var(--page);color:var(--text);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
.page{max-width:63rem;margin:0 auto;padding:2.5rem 1.5rem 4rem}
a{color:var(--accent)}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
.skip{position:absolute;left:-100vw;top:0;padding:.5rem 1rem;background:var(--page)}
.skip:focus{left:0}
h1{font-size:1.125rem;font-weight:600;line-height:1.3;margin:0}
h2{font-size:1.375rem;font-weight:650;line-height:1.25;letter-spacing:-.01em;margin:0 0 .35rem}
h3{font-size:1rem;font-weight:600;margin:2rem 0 .35rem}
p{margin:.35rem 0;max-width:44rem}
.muted,figcaption,.note{color:var(--muted);font-size:.875rem;line-height:1.5}
header .muted{margin:.15rem 0 0}
nav{margin:1.25rem 0 0;font-size:.875rem}
nav ul{display:flex;flex-wrap:wrap;gap:.15rem 1.1rem;margin:0;padding:0;list-style:none}
nav a{display:inline-block;padding:.2rem 0;text-decoration:none}
nav a:hover{text-decoration:underline}
section{margin-top:3.25rem;scroll-margin-top:1rem}
section.first{margin-top:2rem}
.verdict{font-size:1.625rem;font-weight:650;line-height:1.3;letter-spacing:-.015em;margin:0 0 1rem;max-width:46rem;text-wrap:pretty}
.numbers{display:flex;flex-wrap:wrap;gap:1rem 2.75rem;margin:0 0 1.5rem}
.numbers div{display:flex;flex-direction:column-reverse}
.numbers dt{color:var(--muted);font-size:.875rem}
.numbers dd{margin:0;font-size:1.25rem;font-weight:600}
.scroll{position:relative;overflow-x:auto;margin:.25rem 0 0;background:linear-gradient(90deg,var(--page) 40%,transparent) left/2.5rem 100% no-repeat local,linear-gradient(270deg,var(--page) 40%,transparent) right/2.5rem 100% no-repeat local,linear-gradient(90deg,var(--shade),transparent) left/.75rem 100% no-repeat scroll,linear-gradient(270deg,var(--shade),transparent) right/.75rem 100% no-repeat scroll}
table{border-collapse:collapse;width:100%;font-size:.875rem;line-height:1.4}
caption{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.caption{margin:1.25rem 0 0;color:var(--muted);font-size:.875rem}
th,td{padding:.45rem .7rem;border-bottom:1px solid var(--rule);text-align:left;vertical-align:top}
th{font-weight:600}
thead th{overflow-wrap:normal;color:var(--muted);font-weight:500;vertical-align:bottom;border-bottom-color:var(--muted)}
table tr>:first-child{padding-left:0}
table tr>:last-child{padding-right:0}
.right{text-align:right;white-space:nowrap}
tbody th{min-width:7rem;max-width:18rem}
.again th{font-weight:400;color:var(--muted)}
.mark{position:absolute}
td{overflow-wrap:normal}
td.long{min-width:14rem;overflow-wrap:anywhere}
.dense{font-size:.8125rem}
.dense th,.dense td{padding-left:.4rem;padding-right:.4rem}
.dense .range{font-size:.75rem}
.sum th,.sum td{font-weight:600;color:var(--text);border-bottom-color:var(--muted)}
.ranking{font-size:1rem}
.ranking thead{font-size:.875rem}
.ranking .rank{color:var(--muted)}
.bar{float:left;margin:.5em 1rem 0 0;width:5rem;height:.5rem;border-radius:.25rem;background:var(--rule);overflow:hidden;print-color-adjust:exact;-webkit-print-color-adjust:exact}
.bar span{display:block;height:100%;background:var(--accent);print-color-adjust:exact;-webkit-print-color-adjust:exact}
.range{display:block;white-space:nowrap;color:var(--muted);font-size:.8125rem;font-weight:400}
figure{margin:1rem 0 0}
figcaption{max-width:44rem;margin-top:.35rem}
svg{display:block;width:100%;height:auto}
.narrow{display:none}
.legend{display:flex;flex-wrap:wrap;gap:.2rem 1.25rem;margin:.75rem 0 0;padding:0;list-style:none;font-size:.875rem}
.legend li{display:flex;align-items:center;gap:.5rem}
.legend svg{flex:none;width:1.75rem;height:.75rem}
.notes{margin:1.5rem 0 0;padding:.75rem 1rem;background:var(--note);border-left:3px solid var(--note-rule)}
.notes h3{margin:0 0 .25rem}
.notes ul,.plain{margin:.25rem 0 0;padding:0 0 0 1.1rem}
.notes li,.plain li{margin:.25rem 0;max-width:46rem}
.notes details{margin-top:.35rem}
.gates{list-style:none;margin:.75rem 0 0;padding:0}
.gates li{padding:.35rem 0;border-bottom:1px solid var(--rule)}
.gates strong{display:inline-block;min-width:4.75rem}
.ok{color:var(--good)}
.bad{color:var(--bad)}
summary{cursor:pointer;color:var(--accent);font-size:.875rem;padding:.35rem 0}
.facts{display:grid;grid-template-columns:max-content 1fr;gap:.3rem 1.5rem;margin:.75rem 0 0;font-size:.9375rem}
.facts dt{color:var(--muted)}
.facts dd{margin:0}
footer{margin-top:3.5rem;padding-top:1rem;border-top:1px solid var(--rule)}
@media (max-width:640px){
.page{padding:1.25rem 1rem 3rem}
.verdict{font-size:1.3125rem}
.numbers{gap:.85rem 1.75rem}
.wide{display:none}
.narrow{display:block}
section{margin-top:2.5rem}
.ranking{font-size:.875rem}
.bar{display:none}
th,td{padding-left:.45rem;padding-right:.45rem}
tbody th{min-width:5.5rem}
.facts{grid-template-columns:1fr;gap:0}
.facts dd{margin-bottom:.6rem}
}
@media print{
body{font-size:10pt}
.page{max-width:none;padding:0}
nav,.skip{display:none}
.wide{display:block}
.narrow{display:none}
.scroll{overflow:visible}
table{font-size:7.5pt}
th,td{padding:2pt 4pt}
.ranking{font-size:9pt}
section{margin-top:18pt}
figure,tr,.notes,h2,h3{break-inside:avoid}
h2,h3{break-after:avoid}
details::details-content{content-visibility:visible;block-size:auto;height:auto}
}
`
