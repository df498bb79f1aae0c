/** Which key servers: Valkey or Redis, one or a cluster. docs/reference/key-server.md */

/** A key server. */
export interface KeyServer {
  readonly host: string
  readonly port: number
}

/** Default port of key servers. */
export const KEY_PORT = 6379

/** Parses `host`, `host:port` or `[address]:port`; undefined for anything else. */
export function parseKeyServer(text: string): KeyServer | undefined {
  const [, bracketed, plain, port = String(KEY_PORT)] =
    /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::(\d{1,5}))?$/.exec(text) ?? []
  const host = bracketed ?? plain
  const number = Number(port)
  return host === undefined || number < 1 || number > 65_535 ? undefined : { host, port: number }
}

/** Returns a server as in messages and as `parseKeyServer` reads it. */
export function keyServerText({ host, port }: KeyServer): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
