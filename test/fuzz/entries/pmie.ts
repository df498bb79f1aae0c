/** Rules of pmie, up to the tasks that evaluate them; their hosts never answer. */
import type { RuleHost } from '../../../src/rules/host.ts'
import { loadRules } from '../../../src/rules/load.ts'
import { UTC } from '../../../src/time/zone.ts'
import { type FuzzEntry, textEntry } from '../engine/entry.ts'

const host: RuleHost = { name: 'here', connection: 'here', isArchive: false, context: undefined }

/** Entry of src/pmie. */
export const pmie: FuzzEntry = textEntry({
  seeds: () => [
    'delta = 2 min;\nhosts = ":a :b";\nload = kernel.all.load $hosts #\'1 minute\' @0..2;\nhigh = some_host ( $load > 5.5 ) -> syslog 10 min "high %v %h" & print "x";\n',
    'some_inst ( 100 * disk.dev.total / hinv.cpu.clock > 60 count/sec ) && all_sample (mem.free <= 5 Mbyte)\n  -> shell 1 hour "echo %i" & alarm "x" "y";\n',
    'ruleset\n  a.b > 1 -> print "one"\nelse a.c == 2 -> print "two" " %v"\nunknown -> print "u"\notherwise -> print "o"\n;\n',
    'x = rate a + delta b - instant c * avg_host (d :h #i) ;\ny = match_inst "s.*" (a > 1) ; z = count_sample (a > b) >= 2 rising; w = 25 %_sample a == "text" ;\n/* comment */ // other\n',
    'v = $minute == 5 || day_of_week > 3 && ! (falling a.b != 1) ; stomp -> stomp "x"; a -> webhook "u" ;\n',
    'm = "a macro"; n = $m ;\np = min_inst nomatch_inst "x" a ** 2;\n',
  ],
  async run(text) {
    const { signal } = new AbortController()
    await loadRules([{ name: 'rules', text }], 10, {
      hosts: {
        isArchive: false,
        first: host,
        all: [host],
        find: async () => host,
        close: async () => undefined,
      },
      reporter: { print: () => undefined, log: () => undefined },
      zone: UTC,
      signal,
      showsPlaces: true,
    })
  },
})
