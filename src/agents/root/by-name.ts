/** containers.*: what each container uses, by its name. docs/how-to/containers.md */
import type { AgentEnv, IndomSpec, Labels } from '../../pmda/define.ts'
import { Reading } from '../../pmda/reading.ts'
import { kernelUnitsFor } from '../../sys/auxv.ts'
import { ContainerNames } from '../../sys/containers/named.ts'
import { InstanceIds } from '../lib/instance-ids.ts'
import type { OrderedRow } from '../lib/name-order.ts'
import { Usage, UsageReader } from './usage.ts'
import { USAGE_GROUPS, USAGE_KINDS } from './usage-rows.ts'

/** Far from the domains of PCP's agent. */
const SERIAL = 64

/** Returns the metrics. `root` is where the host's files are. */
export function metricsByName(env: AgentEnv, root: string): { readonly [name: string]: OrderedRow } {
  const names = new ContainerNames(root, env.env, env.clock, (text) => env.log('warning', text))
  const reader = new UsageReader(root, env.clock)
  const ids = new InstanceIds()
  const reading = new Reading(() => {
    reader.begin()
    const { containers, hierarchies } = names.look()
    return new Map(
      containers.map((named) => [ids.idOf(named.name), new Usage(named, hierarchies, reader)] as const),
    )
  })
  const indom: IndomSpec = {
    serial: SERIAL,
    reading,
    instances: () => ({
      ids: [...reading.value.keys()],
      names: () => [...reading.value.values()].map(({ named }) => named.name),
    }),
    help: 'Containers by name, those of Kubernetes by NAMESPACE/POD/NAME',
    text: 'Of docker, podman, containerd, CRI-O and lxc, also of users without root rights. A name that several have is followed by @ and the engine, or the beginning of the id, except for the first. A container of which only the control group is known has the beginning of its id for a name.',
    instanceLabels: (inst) => {
      const usage = reading.value.get(inst)
      return usage && labelsOf(usage)
    },
  }
  const { hertz } = kernelUnitsFor(env.env, 'PROC')
  const metrics: { [name: string]: OrderedRow } = {}
  for (const { name: group, cluster, rows } of USAGE_GROUPS)
    for (const [name, { item, kind, help, text, of }] of Object.entries(rows(hertz))) {
      const [type, sem, units] = USAGE_KINDS[kind]
      metrics[`containers.${group}.${name}`] = {
        cluster,
        item,
        type,
        sem,
        units,
        indom,
        reading,
        help,
        text,
        isAddition: true,
        value: (inst) => {
          const usage = reading.value.get(inst)
          return usage && of(usage)
        },
      }
    }
  return metrics
}

function labelsOf({ named: { container } }: Usage): Labels {
  const { id, engine, name, image, pod, namespace, member } = container
  const labels: { [name: string]: string } = { container_id: id, engine }
  const short = member ?? name
  if (short) labels['container'] = short
  if (image !== undefined) labels['image'] = image
  if (pod !== undefined) labels['pod'] = pod
  if (namespace !== undefined) labels['namespace'] = namespace
  return labels
}
