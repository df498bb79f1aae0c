/** Hands charts and views to the browser as files. */

/** Hands a file to the browser. */
export function download(name: string, content: Blob): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}

/** Pixels of a picture for each of its units: sharp on every screen. */
const SHARPNESS = 2

/** A picture in pixels. */
export async function toPng(svg: string): Promise<Blob> {
  const url = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }))
  try {
    const image = new Image()
    image.src = url
    await image.decode()
    const canvas = document.createElement('canvas')
    canvas.width = SHARPNESS * image.naturalWidth
    canvas.height = SHARPNESS * image.naturalHeight
    const context = canvas.getContext('2d')
    if (context === null) throw new Error('This browser draws no pictures')
    context.drawImage(image, 0, 0, canvas.width, canvas.height)
    return await new Promise((resolve, reject) =>
      canvas.toBlob((blob) =>
        blob === null ? reject(new Error('The picture could not be made')) : resolve(blob),
      ),
    )
  } finally {
    URL.revokeObjectURL(url)
  }
}
