/** Spreadsheets as sheet2pcp reads them: comma-separated values, XML, and maps. */
import { parseCsv } from '../../../src/tools/sheet2pcp/csv.ts'
import { parseMap } from '../../../src/tools/sheet2pcp/map.ts'
import { parseXml } from '../../../src/tools/sheet2pcp/xml.ts'
import { attemptAll, type FuzzEntry, textEntry } from '../engine/entry.ts'

/** Entry of src/tools/sheet2pcp. */
export const sheet: FuzzEntry = textEntry({
  seeds: () => [
    'Date,a,"b ""c"""\r\n2020-01-01 00:00:00,1,2.5\n',
    '<?xml version="1.0"?><a b="c&amp;d"><!-- x --><e/>text&#x41;<![CDATA[y]]></a>',
    '<?xml version="1.0"?><sheet heading="1" hostname="h" timezone="UTC" datefmt="YMD"><metric pmid="60.0.1" indom="60.2" units="0,0,1,0,0,0" type="u32" sem="counter">a.b</metric><datetime/><data>a.b[x]</data><skip/></sheet>',
  ],
  run(text) {
    const parsers = [parseCsv, parseMap, (given: string) => parseXml(given, () => undefined)]
    attemptAll(
      sheet,
      parsers.map((parse) => () => parse(text)),
    )
  },
})
