/** Metric and instance domain identifiers: 32-bit words with packed fields. docs/formats/wire.md §6.1 */

/** A metric identifier: 1 reserved bit, domain (9), cluster (12), item (10); always an unsigned number. */
export type Pmid = number
/** An instance domain identifier: 1 reserved bit, domain (9), serial (22); always an unsigned number. */
export type Indom = number

/** No metric. */
export const PM_ID_NULL: Pmid = 0xffffffff
/** No instance domain: the metric has one value. */
export const PM_INDOM_NULL: Indom = 0xffffffff
/** No instance, or all instances in a query; instances are signed, so this is -1. */
export const PM_IN_NULL = -1

/** Domain that agents must not use: dynamic roots (item 0) and derived metrics (other items). */
export const DOMAIN_RESERVED = 511

/** Builds a PMID; fields out of range are masked. @see pmID_build(3) */
export function pmid(domain: number, cluster: number, item: number): Pmid {
  return (((domain & 0x1ff) << 22) | ((cluster & 0xfff) << 10) | (item & 0x3ff)) >>> 0
}

/** Returns the domain field of a PMID or an indom. @see pmID_domain(3) */
export function domainOf(id: Pmid | Indom): number {
  return (id >>> 22) & 0x1ff
}

/** Returns the cluster field of a PMID. @see pmID_cluster(3) */
export function clusterOf(id: Pmid): number {
  return (id >>> 10) & 0xfff
}

/** Returns the item field of a PMID. @see pmID_item(3) */
export function itemOf(id: Pmid): number {
  return id & 0x3ff
}

/** Returns the id for cluster labels: the PMID with item 0. */
export function clusterId(id: Pmid): Pmid {
  return pmid(domainOf(id), clusterOf(id), 0)
}

/** Builds an indom; fields out of range are masked. @see pmInDom_build(3) */
export function indom(domain: number, serial: number): Indom {
  return (((domain & 0x1ff) << 22) | (serial & 0x3fffff)) >>> 0
}

/** Returns the serial field of an indom. @see pmInDom_serial(3) */
export function serialOf(id: Indom): number {
  return id & 0x3fffff
}

/** Returns the PMID of a dynamic root of `domain` in a name space (`511.domain.0`). */
export function dynamicRoot(domain: number): Pmid {
  return pmid(DOMAIN_RESERVED, domain, 0)
}

/** Returns whether a PMID is a dynamic root; its cluster field is then the owning domain. */
export function isDynamicRoot(id: Pmid): boolean {
  return domainOf(id) === DOMAIN_RESERVED && itemOf(id) === 0
}

/** Formats a PMID: `60.0.32`, `29.*.*` for a dynamic root, `PM_ID_NULL`. @see pmIDStr(3) */
export function pmidStr(id: Pmid): string {
  if (id === PM_ID_NULL) return 'PM_ID_NULL'
  if (isDynamicRoot(id)) return `${clusterOf(id)}.*.*`
  return `${domainOf(id)}.${clusterOf(id)}.${itemOf(id)}`
}

/** Formats an indom: `60.1` or `PM_INDOM_NULL`. @see pmInDomStr(3) */
export function indomStr(id: Indom): string {
  return id === PM_INDOM_NULL ? 'PM_INDOM_NULL' : `${domainOf(id)}.${serialOf(id)}`
}
