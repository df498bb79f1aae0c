/** Styles as minified text, from scripts/build-ui.mjs. */
declare module '*.css?text' {
  const text: string
  export default text
}
