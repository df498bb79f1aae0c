/** Files that command lines name: rules, configurations of extraction, rewriting and reports, made from a source's metrics. */
import type { Random } from '../random.ts'
import type { MetricFacts } from './archive-facts.ts'
import { type Drawing, instanceList } from './draw.ts'

const STRING = 6

/** Rules of pmie. */
export function pmieRules(drawing: Drawing): string {
  const { random } = drawing
  const lines = Array.from({ length: random.int(1, 4) }, (_, i) => `r${i} = ${pmieRule(drawing, i)};\n`)
  if (random.chance(0.2)) lines.unshift(`delta = ${random.pick(['1 sec', '2 min', '500 msec', '1 hour'])};\n`)
  return `<<${lines.join('')}`
}

function pmieRule({ random, source, metrics }: Drawing, index: number): string {
  if (random.chance(0.02)) return `${random.pick(source.metrics).name} (`
  const metric = random.chance(0.6) && metrics.length > 0 ? random.pick(metrics) : random.pick(source.metrics)
  const name = /^[A-Za-z][\w.]*$/.test(metric.name) ? metric.name : `'${metric.name}'`
  if (metric.type === STRING)
    return random.pick([name, `match_inst "a" ${name}`, `${name} == "x"`, `some_inst ${name} != "x"`])
  const picked =
    metric.instances.length > 0 && random.chance(0.3)
      ? ` ${Array.from({ length: random.int(1, 2) }, () => `#'${random.pick(metric.instances)}'`).join(' ')}`
      : ''
  const history = random.chance(0.2) ? ` @${random.pick(['0..2', '1', '0..1', '3'])}` : ''
  const operand = `${name}${picked}${history}`
  const value = random.pick([
    operand,
    `${operand} + 1`,
    `${operand} * 2`,
    `- ${operand}`,
    `${operand} / ${random.int(0, 3)}`,
    `rate ${name}`,
    `instant ${name}`,
    `${name} - ${name}`,
  ])
  const limit = random.pick(['0', '1', '10', '100', '1e6', '5 Kbyte', '10 count/sec', '3 msec'])
  const test = `${value} ${random.pick(['>', '<', '>=', '<=', '==', '!='])} ${limit}`
  const each = random.pick([
    'some_inst',
    'all_inst',
    '50 %_inst',
    'some_sample',
    'all_sample',
    'some_host',
    '',
  ])
  const text = random.pick([`"${index} %i %v"`, '"%h: " "%i=%v "', '"x"', '"%v%v" "a" "b"'])
  return random.pick([
    value,
    `${random.pick(['sum', 'avg', 'min', 'max'])}_${random.pick(['inst', 'sample', 'host'])} (${value})`,
    `count_${random.pick(['inst', 'sample', 'host'])} (${test})`,
    `${each} (${test})`,
    `${random.pick(['rising', 'falling'])} (${test})`,
    `! (${test}) ${random.pick(['&&', '||'])} ${each} (${test})`,
    `${each} (${test}) -> ${random.pick(['print', 'print', 'alarm'])} ${text}`,
    `${each} (${test}) -> print ${random.pick(['', '2 min', '10 sec'])} ${text} ${random.pick(['&', '|'])} print "more %v"`,
    `ruleset ${test} -> print "a %v" else ${test} -> print "b" ${random.pick(['unknown -> print "u"', ''])} otherwise -> print "c"`,
  ])
}

/** A configuration of pmlogextract: metrics with instances. */
export function extractConfig(drawing: Drawing): string {
  const { random, source } = drawing
  const rows = Array.from({ length: random.int(1, 5) }, () => {
    const metric = random.pick(source.metrics)
    const instances =
      metric.instances.length > 0 && random.chance(0.3)
        ? ` [${Array.from({ length: random.int(1, 2) }, () => `"${random.pick(metric.instances)}"`).join(' ')}]`
        : ''
    return `${metric.name}${instances}\n`
  })
  return `<<${rows.join('')}`
}

/** Rules of pmlogrewrite. */
export function rewriteRules({ random, source }: Drawing): string {
  const rules = Array.from({ length: random.int(1, 3) }, () =>
    rewriteRule(random, random.pick(source.metrics)),
  )
  return `<<${rules.join('\n')}\n`
}

function rewriteRule(random: Random, { name, instances }: MetricFacts): string {
  const clause = random.pick([
    'delete',
    'name -> gen.renamed',
    'sem -> instant',
    'sem -> counter',
    'type -> double',
    'type -> u64',
    'type if u32 -> u64',
    'units -> 1,0,0,MBYTE,0,0',
    'units -> 0,1,0,0,MSEC,0',
    'pmid -> 250.1.2',
    'indom -> NULL output max',
    'indom -> NULL output first',
    'nosuch -> 1',
  ])
  const forms = [
    `metric ${name} { ${clause} }`,
    `metric ${name} { ${clause} }`,
    `global { ${random.pick(['hostname -> gen.example', 'tz -> "EST5EDT"', 'time -> +1:30', 'time -> -10.5'])} }`,
    `help ${name} { ${random.pick(['delete', 'text -> "new text"'])} }`,
    `label metric ${name} { ${random.pick(['delete', 'new "k" "1"', 'label "a" -> "b"'])} }`,
    'global { }',
  ]
  if (instances.length > 0) forms.push(`# ${instances[0]}\nmetric ${name} { ${clause} }`)
  return random.pick(forms)
}

/** A configuration of pmrep and its like: options and a set of metrics. */
export function reportConfig(drawing: Drawing): string {
  const { random, metrics, source } = drawing
  const options = [
    'header = no',
    'unitinfo = no',
    'precision = 1',
    'width = 12',
    'timestamp = yes',
    'type = raw',
    'globals = no',
    'delimiter = ;',
    'colxrow = x',
    'repeat_header = 3',
    'nosuch = 1',
  ]
  const rows = [
    '[options]',
    ...random.shuffled(options).slice(0, random.int(0, 3)),
    '',
    '[global]',
    '',
    '[set]',
  ]
  const names = metrics.length > 0 ? metrics : [random.pick(source.metrics)]
  for (const [i, { name }] of names.entries()) {
    rows.push(
      `${name} = ${random.pick(['', `label${i}`, 'x,,,'])}${random.chance(0.3) ? `,${instanceList(drawing).replaceAll(',', '')}` : ''}`,
    )
    if (random.chance(0.2))
      rows.push(`own${i} = gen.own${i}`, `own${i}.label = own`, `own${i}.formula = ${name} * 2`)
  }
  return `<<${rows.join('\n')}\n`
}
