/** Pods of Kubernetes as hosts. */
import { type DiscoveredHost, fileName, hostOf, orSkipped, specOf } from '../host.ts'

/** The fields of a pod that are used; all may be missing or of another type. */
interface Pod {
  readonly metadata?: null | {
    readonly name?: unknown
    readonly namespace?: unknown
    readonly uid?: unknown
    readonly resourceVersion?: unknown
    readonly labels?: unknown
    readonly annotations?: unknown
    readonly deletionTimestamp?: unknown
  }
  readonly spec?: null | { readonly nodeName?: unknown; readonly containers?: unknown }
  readonly status?: null | { readonly podIP?: unknown; readonly phase?: unknown }
}

/** Which pods count. */
export interface PodChoice {
  /** Port of pods that do not name one. */
  readonly port: number
  /** Name of an annotation that a pod must have, with its value if one is required. */
  readonly annotation?: { readonly name: string; readonly value?: string }
}

/** Name of the container port at which a collector listens. */
const PORT_NAME = 'pmcd'
/** Most labels of a pod that are kept. */
const MOST_LABELS = 64

/** Returns the identity of a pod, and its resource version. */
export function podId(pod: unknown): { readonly id: string; readonly version: string } {
  const metadata = (pod as Pod | null | undefined)?.metadata ?? {}
  return { id: String(metadata.uid ?? nameOf(metadata)), version: String(metadata.resourceVersion ?? '') }
}

/** Returns the host of a running pod with an address; undefined for any other pod, and for an invalid one, which is reported. */
export function hostOfPod(
  value: unknown,
  { port, annotation }: PodChoice,
  say: (text: string) => void,
): DiscoveredHost | undefined {
  const pod = value as Pod | null | undefined
  const metadata = pod?.metadata ?? {}
  const spec = pod?.spec ?? {}
  const { podIP, phase } = pod?.status ?? {}
  if (typeof podIP !== 'string' || podIP === '' || phase !== 'Running') return undefined
  if (metadata.deletionTimestamp !== undefined && metadata.deletionTimestamp !== null) return undefined
  const annotations = texts(metadata.annotations)
  if (annotation !== undefined) {
    const found = annotations[annotation.name]
    if (found === undefined || (annotation.value !== undefined && found !== annotation.value))
      return undefined
  }
  const name = String(metadata.name)
  const own = Object.entries(texts(metadata.labels)).slice(0, MOST_LABELS)
  const labels = {
    ...Object.fromEntries(own),
    namespace: String(metadata.namespace),
    pod: name,
    ...(typeof spec.nodeName === 'string' ? { node: spec.nodeName } : {}),
  }
  const address = specOf(podIP, portOf(spec.containers) ?? port)
  const host = orSkipped(() => hostOf(address, labels), say, `pod ${nameOf(metadata)}`)
  return host === undefined ? undefined : { ...host, name: fileName(name) }
}

function nameOf({ namespace, name }: NonNullable<Pod['metadata']>): string {
  return `${String(namespace)}/${String(name)}`
}

function portOf(containers: unknown): number | undefined {
  if (!Array.isArray(containers)) return undefined
  for (const container of containers as unknown[]) {
    const { ports } = (container ?? {}) as { readonly ports?: unknown }
    if (!Array.isArray(ports)) continue
    for (const each of ports as unknown[]) {
      const { name, containerPort } = (each ?? {}) as {
        readonly name?: unknown
        readonly containerPort?: unknown
      }
      if (name === PORT_NAME && Number.isInteger(containerPort)) return containerPort as number
    }
  }
  return undefined
}

function texts(value: unknown): Readonly<Record<string, string>> {
  if (typeof value !== 'object' || value === null) return {}
  return Object.fromEntries(Object.entries(value).filter(([, each]) => typeof each === 'string'))
}
