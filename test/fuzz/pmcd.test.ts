/**
 * A million mutants from clients and a hundred thousand from agents to a live collector. FUZZ_MUTANTS replaces the first number, and a
 * tenth of it the second. CONTRIBUTING.md: Random tests
 */
import { test } from 'vitest'
import { agentsAttack, clientsAttack } from '../lib/fuzz-report.ts'
import { seed } from '../lib/seed.ts'

const MUTANTS = Number(process.env['FUZZ_MUTANTS'] ?? 1_000_000)

test('mutants from clients', () => clientsAttack(MUTANTS, seed))

test('mutants from agents', () => agentsAttack(MUTANTS / 10, seed))
