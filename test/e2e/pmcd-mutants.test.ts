/** A collector that receives mutants from clients after the handshake, and from its agents. test/fuzz/pmcd.test.ts takes longer. */
import { test } from 'vitest'
import { agentsAttack, clientsAttack } from '../lib/fuzz-report.ts'

test('mutants from clients: the collector survives, and answers the next honest client immediately', async () => {
  await clientsAttack(10_000, 20_261_120)
})

test('mutants from agents: they are refused or accepted, and the next honest client is answered immediately', async () => {
  await agentsAttack(3000, 20_261_121)
})
