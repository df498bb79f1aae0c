/** Features of this implementation, by the names that PCP's library uses. pmGetAPIConfig(3) */
import { VERSION } from '../base/version.ts'

/** Features in the order they are listed: `true`, `false`, a version or a list; '' for a missing library. */
const FEATURES: readonly (readonly [name: string, value: () => string])[] = [
  ['pcp_version', () => VERSION],
  // Timestamps have nanoseconds everywhere, as in PCP 7.
  ['pmapi_version', () => '4'],
  ['openssl_version', () => process.versions.openssl ?? ''],
  ['sasl_version', () => ''], // SCRAM and PLAIN are implemented without Cyrus SASL
  ['multi_threaded', () => 'true'],
  ['fault_injection', () => 'false'],
  ['secure_sockets', () => 'true'],
  ['ipv6', () => 'true'],
  ['authentication', () => 'true'],
  ['unix_domain_sockets', () => 'true'],
  ['static_probes', () => 'false'],
  ['service_discovery', () => 'false'],
  ['multi_archive_contexts', () => 'true'],
  ['lock_asserts', () => 'false'],
  ['lock_debug', () => 'false'],
  ['lzma_decompress', () => 'true'],
  ['transparent_decompress', () => 'true'],
  ['compress_suffixes', () => '.xz .lzma .bz2 .bz .gz .Z .z .zst'],
  ['v3_archives', () => 'true'],
  ['archive_features', () => ''],
  ['y2038_safe', () => 'true'],
]

/** Names of all features, in the order they are listed. */
export const API_FEATURES: readonly string[] = FEATURES.map(([name]) => name)

/** Returns the value of a feature; undefined for an unknown one. @see pmGetAPIConfig(3) */
export function apiConfig(feature: string): string | undefined {
  return FEATURES.find(([name]) => name === feature)?.[1]()
}
