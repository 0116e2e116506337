// Fleet: nodes under their leaf switches, each GPU a cell by its column; a click tells its facts.
import { signal } from '@preact/signals'
import { looks } from './columns'
import { age, localTime, plural, thousands, words } from './format'
import { racks, type Rack } from './order'
import { Await, cellClass, Empty, fillOf, Section, Swatch, Table } from './parts'
import { workloadHref } from './route'
import { fabric, useShown } from './store'
import type { Device, Fabric, FabricNode } from './views'

const chosen = signal<{ node: string; index: number } | null>(null)
export const closeCell = () => {
  const was = chosen.value !== null
  chosen.value = null
  return was
}

const side = 15
const gap = 3

export function Fleet() {
  useShown(fabric)
  return <Await of={fabric}>{(f) => <Page f={f} />}</Await>
}

function Page({ f }: { f: Fabric }) {
  if (f.nodes.length === 0) return <Section title="Fleet"><Empty>No node is known: <code>fairlead doctor</code> says what can be read.</Empty></Section>
  const total = f.nodes.reduce((sum, n) => sum + n.gpus_total, 0)
  const node = f.nodes.find((n) => n.node === chosen.value?.node)
  return (
    <Section title={`Fleet: ${plural(f.nodes.length, 'node')}, ${plural(total, 'GPU')}`} from="fabric">
      <p class="legend">
        {looks.map((l) => <span key={l.key} data-hint={l.meaning}><Swatch of={l.key} /> {l.title} {thousands(f.nodes.reduce((sum, n) => sum + n.gpus[l.key], 0))}</span>)}
      </p>
      <div class={node ? 'split' : ''}>
        <div class="racks">{racks(f.nodes).map((r) => <RackOf key={r.leaf} r={r} f={f} />)}</div>
        {node && <Facts n={node} index={chosen.value!.index} />}
      </div>
    </Section>
  )
}

function RackOf({ r, f }: { r: Rack; f: Fabric }) {
  const s = f.switches.find((own) => own.name === r.leaf)
  const text = s ? `${s.gpus_free} of ${plural(s.gpus_total, 'GPU')} free, ${plural(s.nodes_whole_free, 'whole node')}` : ''
  return (
    <div class="rack">
      <h3 data-hint={text}>{r.leaf || 'under no switch'} <span class="muted">{s && `${s.gpus_free} of ${s.gpus_total} free`}</span></h3>
      {r.nodes.map((n) => <NodeOf key={n.node} n={n} />)}
    </div>
  )
}

const serves = (n: FabricNode) => ['idle', 'mixed', 'allocated'].includes(n.state)

function NodeOf({ n }: { n: FabricNode }) {
  const own = chosen.value?.node === n.node ? chosen.value.index : -1
  const hint = `${n.node}: ${n.state}${n.reason ? `, ${n.reason}` : ''}; ${plural(n.gpus_total, 'GPU')}, seen ${age(n.seen, fabric.nowMs)} before`
  const choose = (index: number) => (chosen.value = { node: n.node, index })
  const onKeyDown = (e: KeyboardEvent) => {
    const by = e.key === 'ArrowRight' || e.key === 'l' ? 1 : e.key === 'ArrowLeft' || e.key === 'h' ? -1 : 0
    if (by === 0 || n.devices.length === 0) return
    e.preventDefault()
    choose((Math.max(0, own) + (own < 0 ? 0 : by) + n.devices.length) % n.devices.length)
  }
  return (
    <div class="node" data-row="" tabIndex={-1} data-hint={hint} onClick={() => choose(Math.max(0, own))} onKeyDown={onKeyDown}>
      <span class={serves(n) ? '' : 'muted'}>{n.node}</span>
      <svg width={n.devices.length * (side + gap)} height={side + 2} role="img" aria-label={hint}>
        {n.devices.map((d, i) => (
          <rect key={d.index} class={cellClass(d.column)} x={i * (side + gap) + 1} y="1" width={side} height={side} fill={fillOf(d.column)} pointer-events="all"
            data-hint={deviceText(n, d)} onClick={(e) => { e.stopPropagation(); choose(i) }} />
        ))}
        {own >= 0 && <rect class="chosen" x={own * (side + gap) - 0.5} y="-0.5" width={side + 3} height={side + 3} fill="none" />}
      </svg>
    </div>
  )
}

const deviceText = (n: FabricNode, d: Device) => `${n.node} GPU ${d.index}: ${words(d.column)}${d.workload ? `, ${d.workload}` : ''}${d.looked_at ? `, looked at ${age(d.looked_at, fabric.nowMs)} before` : ''}`

function Facts({ n, index }: { n: FabricNode; index: number }) {
  const d = n.devices[index]
  const ago = (at: string | null) => (at ? `${age(at, fabric.nowMs)} before (${localTime(at)})` : 'never')
  const rows: [string, preact.ComponentChildren][] = [
    ['node', n.node], ['state', n.state + (n.reason ? `: ${n.reason}` : '')], ['seen', ago(n.seen)], ['leaf', n.leaf || '-'], ['accelerators', n.models || '-'],
    ['CPUs used', `${thousands(n.cpus_used)} of ${thousands(n.cpus)}`], ['memory used', `${thousands(n.memory_used_mb / 1024)} of ${thousands(n.memory_mb / 1024)} GiB`], ['features', n.features.join(' ') || '-'],
  ]
  if (d) {
    rows.unshift(['GPU', `${d.index}, ${d.model || 'gpu'}`], ['column', <><Swatch of={d.column} /> {words(d.column)}</>],
      ['held by', d.workload ? <a href={workloadHref(d.workload)}>{d.workload}</a> : 'nobody'], ['evidence', `${words(d.look)}, looked at ${ago(d.looked_at)}`])
  }
  return <aside><Table label="Facts" cols={[{ title: 'fact' }, { title: 'value', text: true }]} rows={rows.map(([k, v]) => ({ key: k, cells: [k, v] }))} /></aside>
}
