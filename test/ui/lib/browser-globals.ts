/** Globals of a browser that modules of the page read when they are imported. Import those after calling this. */
import { vi } from 'vitest'

/** Defines them, without storage and without a document. */
export function stubBrowser(): void {
  const blocked = {
    getItem: () => null,
    setItem: () => {},
    removeItem: () => {},
  }
  vi.stubGlobal('localStorage', blocked)
  vi.stubGlobal('sessionStorage', blocked)
  vi.stubGlobal('location', { protocol: 'https:', host: 'host', hash: '', search: '' })
  vi.stubGlobal('addEventListener', () => {})
}
