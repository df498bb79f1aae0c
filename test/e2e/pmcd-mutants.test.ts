/** A collector that is sent mutants by clients it has let in, and by its agents. test/fuzz/pmcd.test.ts takes longer. */
import { test } from 'vitest'
import { agentsAttack, clientsAttack } from '../lib/fuzz-report.ts'

test('mutants from clients: the collector stays, and answers the next honest client at once', async () => {
  await clientsAttack(10_000, 20_261_120)
})

test('mutants from agents: they are dropped or believed, and the next honest client is answered at once', async () => {
  await agentsAttack(3000, 20_261_121)
})
