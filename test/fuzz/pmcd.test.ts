/**
 * A million mutants from clients and a hundred thousand from agents to a live collector; FUZZ_MUTANTS is another number
 * of the first, a tenth of it of the second, and FUZZ_SEED another seed.
 */
import { test } from 'vitest'
import { agentsAttack, clientsAttack } from '../lib/fuzz-report.ts'

const MUTANTS = Number(process.env['FUZZ_MUTANTS'] ?? 1_000_000)
const SEED = Number(process.env['FUZZ_SEED'] ?? 20_261_120)

test('mutants from clients', () => clientsAttack(MUTANTS, SEED))

test('mutants from agents', () => agentsAttack(MUTANTS / 10, SEED))
