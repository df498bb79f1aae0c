/** Derived metrics over any source, without Node: `pcp-ts/derive`. docs/reference/derived-metrics.md */
export { type LoadOptions, loadDerived } from './derive/config.ts'
export { getControl, setControl, setControls } from './derive/controls.ts'
export {
  type DerivedControls,
  type DerivedDefinition,
  DerivedDefinitions,
  type DerivedText,
  defaultControls,
  faultText,
  isDefinition,
  isDerivedName,
  isDerivedPmid,
} from './derive/definitions.ts'
export { type DerivedOptions, type DerivedSource, withDerived } from './derive/derived-source.ts'
export { parseEquivalences } from './derive/equivalence.ts'
export type {
  AggregateName,
  BinaryOp,
  ExplicitMeta,
  Expr,
  NumberExpr,
  RankName,
  SyntaxFault,
  UnaryName,
} from './derive/expr.ts'
export type { SameIndom } from './derive/meta.ts'
export { isFault, parseExpr } from './derive/parse.ts'
export { type ErrorCode, isError, type Outcome, PcpError } from './model/errors.ts'
export { ANONYMOUS, type Ask, type MetricSource, type Requester } from './model/source.ts'
