/** The part of the package js-lzma that is used; it has no declarations. */
declare module 'js-lzma' {
  interface ByteReader {
    readByte(): number
  }
  const lzma: {
    /** Throws texts. */
    decompress(
      properties: ByteReader & { readonly size: number },
      input: ByteReader,
      output: { writeByte(byte: number): void },
      length: number,
    ): void
  }
  export default lzma
}
