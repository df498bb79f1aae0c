/** Settings of TLS. */
import { parseTlsConfig } from '../../../src/net/tls-config.ts'
import { type FuzzEntry, textEntry } from '../engine/entry.ts'

/** Entry of src/net/tls-config.ts. */
export const tlsConfig: FuzzEntry = textEntry({
  seeds: () => [
    'tls-cert-file = /etc/pcp/tls/server.crt\ntls-key-file=/x.key\n# comment\ntls-verify-clients = true\ntls-ca-cert-file = /ca\n',
    'tls-ca-cert-dir = /c\ntls-client-cert-file = /c\ntls-client-key-file = /k\ntls-ciphersuites = A:B\ntls-verify-clients = no\n',
  ],
  run: (text) => void parseTlsConfig(text, 'tls.conf'),
})
