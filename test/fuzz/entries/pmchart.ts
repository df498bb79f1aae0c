/** Views of pmchart: reading and writing preserves them. */
import { readViewFile } from '../../../src/ui/view/pmchart.ts'
import { type FuzzEntry, textEntry } from '../engine/entry.ts'

/** Entry of src/ui/view/pmchart.ts. */
export const pmchart: FuzzEntry = textEntry({
  seeds: () => [
    '#kmchart\nversion 1\n\nglobal width 640\nglobal points 100\ntab "one" points 30 samples 60\nchart title "CPU %h" style stacking antialiasing off\n\tplot color #ff0000 metric kernel.all.cpu.user\n\tplot legend "sys" colour blue host * metric kernel.all.cpu.sys instance "a b"\n',
    '#pmchart\nversion 2.0 host dynamic\nchart style plot scale from 0 to 100.5 legend off\n\toptional-plot metric disk.dev.read matching "sd[a-z]" \n\tplot metric a not-matching ^x\nscheme one #fff red rgbi:1/0/0\n',
  ],
  run: (text) => void readViewFile(text, (color) => /^[a-z]+$/.test(color)),
})
