/** Returns the value of decimal digits, which may have a sign: a bigint if a number would lose some of them. */
export function exactInteger(digits: string): number | bigint {
  const number = Number(digits)
  return Number.isSafeInteger(number) ? number : BigInt(digits)
}
