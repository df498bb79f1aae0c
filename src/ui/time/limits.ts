/** Limits of the shown window; without the clock of the page, so that commands can import them. */

/** Widest window, in seconds. */
export const WIDEST: number = 366 * 86_400
