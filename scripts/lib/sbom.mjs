/**
 * Lists what is shipped: a CycloneDX bill of materials, and the licenses of bundled packages. Equal sources give equal bytes, so neither
 * has a date, and the serial number is derived from the content. docs/developing/releasing.md
 */
import { createHash } from 'node:crypto'
import { compare } from './bundled.mjs'

export const SBOM = 'sbom.cdx.json'
export const NOTICES = 'third-party-notices.txt'

/** Licenses under which code may be part of an Apache-2.0 package, and be distributed with its text alone. */
const ACCEPTED = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT']
const RULE = '-'.repeat(80)

/**
 * Returns the bill of materials.
 *
 * @param manifest of this package
 * @param packages as bundledPackages returns them
 * @param lock the lock file, which has a hash of each package
 */
export function billOfMaterials(manifest, packages, lock) {
  const own = referenceOf(manifest)
  const optional = Object.entries(manifest.optionalDependencies ?? {}).map(([name]) => {
    const path = `node_modules/${name}`
    const { version, license } = lock.packages[path]
    return { path, manifest: { name, version, license }, places: [], isOptional: true }
  })
  const all = [...packages, ...optional]
  const byName = new Map(all.map((one) => [one.manifest.name, one]))
  const dependsOn = ({ dependencies = {}, peerDependencies = {} }) =>
    [...new Set([...Object.keys(dependencies), ...Object.keys(peerDependencies)])]
      .filter((name) => byName.has(name))
      .map((name) => referenceOf(byName.get(name).manifest))
      .sort(compare)
  const contents = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      lifecycles: [{ phase: 'build' }],
      component: {
        type: 'application',
        'bom-ref': own,
        ...identityOf(manifest),
        description: manifest.description,
        licenses: [{ license: { id: manifest.license } }],
      },
    },
    components: all.map((one) => componentOf(one, lock)),
    dependencies: [
      { ref: own, dependsOn: all.map((one) => referenceOf(one.manifest)).sort(compare) },
      ...all.map((one) => ({ ref: referenceOf(one.manifest), dependsOn: dependsOn(one.manifest) })),
    ],
  }
  return { ...contents, serialNumber: serialOf(JSON.stringify(contents)) }
}

/** Returns the notices file. Throws for a license that is not accepted, and for a package without text that `notice` does not name. */
export function thirdPartyNotices(packages, { notice, license }) {
  const sections = packages.map(({ manifest, places, texts }) => {
    const { name, version } = manifest
    if (!ACCEPTED.includes(manifest.license))
      throw new Error(
        `${name} ${version} is bundled and has the license ${JSON.stringify(manifest.license)}; accepted are ${ACCEPTED.join(', ')}`,
      )
    if (texts.length === 0 && !new RegExp(`^ +${name}(?: |$)`, 'm').test(notice))
      throw new Error(`${name} ${version} is bundled and has no license file: add its copyright to NOTICE`)
    const shown = texts.map((text) => (isSame(text, license) ? 'The license is in the file LICENSE.' : text))
    const body = shown.length === 0 ? 'Copyright and license are in the file NOTICE.' : shown.join('\n\n')
    return `${RULE}\n${name} ${version} (${manifest.license}), in: ${places.join(', ')}\n\n${body}\n`
  })
  const head = `Packages of which pcp-ts contains code, and their licenses. Paths are in the package pcp-ts.\n`
  return [head, ...sections].join('\n')
}

function componentOf({ path, manifest, places, isOptional = false }, lock) {
  const source = urlOf(manifest.repository)
  const integrity = lock.packages[path]?.integrity
  return {
    type: 'library',
    'bom-ref': referenceOf(manifest),
    ...identityOf(manifest),
    scope: isOptional ? 'optional' : 'required',
    licenses: [{ license: { id: manifest.license } }],
    ...(integrity === undefined ? {} : { hashes: [hashOf(integrity)] }),
    ...(source === undefined ? {} : { externalReferences: [{ type: 'vcs', url: source }] }),
    ...(places.length === 0
      ? {}
      : { properties: places.map((value) => ({ name: 'pcp-ts:bundledIn', value })) }),
  }
}

function identityOf({ name, version }) {
  const [, group, base] = /^(?:(@[^/]+)\/)?(.+)$/.exec(name)
  return {
    ...(group === undefined ? {} : { group }),
    name: base,
    version,
    purl: referenceOf({ name, version }),
  }
}

/** Returns the package URL, which also identifies the component in the file. */
function referenceOf({ name, version }) {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`
}

function urlOf(repository) {
  const url = typeof repository === 'string' ? repository : repository?.url
  return url?.replace(/^git\+/, '')
}

/** Converts a hash of the lock file, in base64, to CycloneDX's form. */
function hashOf(integrity) {
  const [, bits, base64] = /^sha(\d+)-(.+)$/.exec(integrity)
  return { alg: `SHA-${bits}`, content: Buffer.from(base64, 'base64').toString('hex') }
}

/** Returns a UUID (version 8: any content) made of a hash. */
function serialOf(text) {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16)
  bytes[6] = (bytes[6] & 0x0f) | 0x80
  bytes[8] = (bytes[8] & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return `urn:uuid:${[0, 8, 12, 16, 20, 32]
    .slice(1)
    .map((end, i) => hex.slice([0, 8, 12, 16, 20][i], end))
    .join('-')}`
}

const isSame = (a, b) => a.replaceAll(/\s+/g, ' ').trim() === b.replaceAll(/\s+/g, ' ').trim()
