/** What the services of a container need of their process. */
export interface ContainerIo {
  /** Directory of our commands. */
  readonly binDir: string
  /** Directory of the programs of `pcp-ts start`. */
  readonly partsDir: string
  /** Aborted to stop the container. */
  readonly signal: AbortSignal
  /** Resolves when `signal` is aborted. */
  readonly stopped: Promise<void>
  /** Prints a line into the container's log. */
  readonly say: (line: string) => void
}
