/**
 * The dashboard and the alert rules against the table of metrics: a metric or a label that does not exist would be an empty panel, or an
 * alert that never fires. `.ci/alerts` has the rules tried by Prometheus.
 */
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import test from 'node:test';
import { type MetricRow, metricRows } from '../../src/base/metric-table.ts';
import { read, readYaml, root } from './repository.ts';

/** Labels that Prometheus gives to what it scrapes. */
const targetLabels = ['job', 'instance'];

/** https://prometheus.io/docs/prometheus/latest/querying/basics/#reserved-keywords */
const keywords = new Set(['by', 'without', 'on', 'ignoring', 'and', 'or', 'unless', 'bool', 'offset']);

interface Expression {
  readonly metrics: readonly string[];
  /** By which metric they are asked of: those in its braces. */
  readonly asked: readonly (readonly [metric: string, label: string])[];
  /** Those of `by (…)`. */
  readonly grouped: readonly string[];
}

/** The metrics and labels of an expression of PromQL. */
function parseExpression(expression: string): Expression {
  const bare = expression.replace(/"(?:[^"\\]|\\.)*"/g, '""').replace(/\[[^\]]*\]/g, '');
  const groups = [...bare.matchAll(/\b(?:by|without|on|ignoring) ?\(([^)]*)\)/g)];
  const grouped = groups.flatMap(([, labels = '']) => labels.split(',').map((label) => label.trim()));
  const rest = bare.replace(/\b(?:by|without|on|ignoring) ?\([^)]*\)/g, '');
  const metrics: string[] = [];
  const asked: [string, string][] = [];
  for (const [, name = '', labels = ''] of rest.matchAll(/([a-z_:][\w:]*)(?![\w:]|\s*\()(?:\{([^}]*)\})?/gi)) {
    if (keywords.has(name)) continue;
    metrics.push(name);
    for (const [, label = ''] of labels.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)) asked.push([name, label]);
  }
  return { metrics, asked, grouped };
}

function findRow(metric: string): MetricRow | undefined {
  return metricRows.find(({ name, kind }) =>
    kind === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`].includes(metric) : name === metric,
  );
}

function labelsOf(metric: string): readonly string[] {
  return [...targetLabels, ...(findRow(metric)?.labels ?? []), ...(metric.endsWith('_bucket') ? ['le'] : [])];
}

/** What is wrong with an expression; none if all that it names exists. */
function findFaults(expression: string): readonly string[] {
  const { metrics, asked, grouped } = parseExpression(expression);
  const known = new Set(metrics.flatMap(labelsOf));
  return [
    ...(metrics.length === 0 ? ['no metric'] : []),
    ...metrics.filter((name) => name !== 'up' && findRow(name) === undefined).map((name) => `metric ${name}`),
    ...asked.filter(([metric, label]) => !labelsOf(metric).includes(label)).map((pair) => `label ${pair.join(' ')}`),
    ...grouped.filter((label) => !known.has(label)).map((label) => `label ${label}`),
  ];
}

/** Labels that a result of the expression has. */
function labelsOfResult(expression: string): readonly string[] {
  const { metrics, grouped } = parseExpression(expression);
  if (grouped.length > 0) return grouped.filter((label) => label !== 'le');
  return /^(?:sum|max|min|avg|count)\(/.test(expression) ? [] : metrics.flatMap(labelsOf);
}

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string; readonly runbook: string };
}

const rules: readonly Rule[] = readYaml('deploy/prometheus/alerts.yml').groups.flatMap(
  ({ rules: each }: { readonly rules: readonly Rule[] }) => each,
);
const runbook = read('docs/operate/alerts.md');
const headings = [...runbook.matchAll(/^## (\w+)$/gm)].map(([, heading = '']) => heading);

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly datasource?: object;
  readonly targets?: readonly { readonly refId: string; readonly expr: string; readonly legendFormat: string }[];
}

const dashboard = JSON.parse(read('deploy/grafana/praxis.json'));
const panels: readonly Panel[] = dashboard.panels;
const targets = panels.flatMap(({ targets: each = [] }) => each);

test('what names a metric or a label that does not exist is found', () => {
  for (const [expression, faults] of [
    ['sum(praxis_ready)', []],
    ['praxis_readiness == 0', ['metric praxis_readiness']],
    ['sum by (firm) (praxis_websockets)', ['label firm']],
    ['praxis_websockets{status="bound"} > 1', ['label praxis_websockets status']],
    ['rate(praxis_http_request_duration_seconds[5m])', ['metric praxis_http_request_duration_seconds']],
    ['sum by (le, route) (rate(praxis_http_request_duration_seconds_bucket{status=~"5.."}[5m]))', []],
    ['sum by (le) (rate(praxis_http_request_duration_seconds_count[5m]))', ['label le']],
    ['rate(praxis_jobs_parked{job_name="a b", instance=~"$instance"}[$__rate_interval]) and up', []],
    ['1 + 2', ['no metric']],
  ] as const)
    assert.deepEqual(findFaults(expression), faults, expression);
});

test('alerts name metrics and labels that exist, and tell labels that their results have', () => {
  assert.ok(rules.length >= 20);
  assert.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length);
  for (const { alert, expr, annotations, labels } of rules) {
    assert.deepEqual(findFaults(expr), [], alert);
    assert.match(alert, /^Praxis[A-Z][A-Za-z]+$/);
    assert.match(labels.severity, /^(?:critical|warning|info)$/);
    const told = Object.values(annotations).flatMap((text) => [...text.matchAll(/\$labels\.(\w+)/g)]);
    for (const [, label = ''] of told) assert.ok(labelsOfResult(expr).includes(label), `${alert}: ${label}`);
  }
});

test('each alert has a part of the runbook that says what to do, and each part an alert', () => {
  assert.deepEqual(headings.toSorted(), rules.map(({ alert }) => alert).toSorted());
  for (const { alert, annotations } of rules) {
    assert.equal(annotations.runbook, `docs/operate/alerts.md#${alert.toLowerCase()}`);
    assert.deepEqual(Object.keys(annotations), ['summary', 'description', 'runbook']);
    const [, part = ''] = new RegExp(`^## ${alert}\\n([^]*?)(?=^## |$(?![^]))`, 'm').exec(runbook) ?? [];
    assert.match(part, /^1\. /m, `${alert} says what to do first`);
  }
});

test('lines of the log that the runbook names are written', () => {
  const files = globSync('packages/server/src/**/*.ts', { cwd: root });
  const sources = files.map((file) => read(file)).join('\n');
  const named = [...runbook.matchAll(/(?:[Ll]ook for|Find) `([^`]+ [^`]+)`/g)].map(([, line = '']) => line);
  assert.ok(named.length >= 5, String(named));
  for (const line of named) assert.ok(sources.includes(line), line);
});

test('the tests of the rules name alerts that exist', () => {
  const { rule_files: files, tests } = readYaml('deploy/prometheus/alerts.test.yml');
  assert.deepEqual(files, ['alerts.yml']);
  const tried: readonly string[] = tests.flatMap((each: { alert_rule_test: readonly { alertname: string }[] }) =>
    each.alert_rule_test.map(({ alertname }) => alertname),
  );
  for (const name of tried) assert.ok(headings.includes(name), name);
  const series: readonly string[] = tests.flatMap((each: { input_series: readonly { series: string }[] }) =>
    each.input_series.map(({ series: one }) => one),
  );
  for (const one of series) assert.deepEqual(findFaults(one), [], one);
});

test('Prometheus scrapes the port of the examples, by the name that the alerts look for', () => {
  const { rule_files: files, scrape_configs: jobs } = readYaml('deploy/prometheus/prometheus.yml');
  assert.deepEqual(files, ['alerts.yml']);
  assert.deepEqual(
    jobs.map(({ job_name: name }: { readonly job_name: string }) => name),
    ['praxis'],
  );
  assert.deepEqual(jobs[0].static_configs, [{ targets: ['127.0.0.1:9464'] }]);
  assert.match(read('deploy/systemd/praxis.env'), /^PRAXIS_METRICS_PORT=9464$/m);
});

test('panels of the dashboard ask for metrics and labels that exist, and their legends for labels of the results', () => {
  assert.ok(targets.length >= 35);
  for (const { expr, legendFormat } of targets) {
    const plain = expr.replaceAll('$__rate_interval', '5m');
    assert.deepEqual(findFaults(plain), [], expr);
    for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g))
      assert.ok(labelsOfResult(plain.replace(/^topk\(10, /, '')).includes(label), `${expr}: ${label}`);
    for (const name of parseExpression(plain).metrics)
      assert.ok(expr.includes(`${name}{instance=~"$instance"`), `${name} of the chosen nodes`);
  }
});

test('every metric of the table is on the dashboard or in an alert', () => {
  const named = new Set(
    [...rules, ...targets].flatMap(({ expr }) => parseExpression(expr.replaceAll('$__rate_interval', '5m')).metrics),
  );
  const missing = metricRows.filter(
    ({ name }) => ![name, `${name}_bucket`, `${name}_count`].some((each) => named.has(each)),
  );
  assert.deepEqual(
    missing.map(({ name }) => name),
    [],
  );
});

test('panels have ids of their own, lie beside each other, and take their data from the chosen source', () => {
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  const variables = dashboard.templating.list.map(({ name }: { readonly name: string }) => name);
  assert.deepEqual(variables, ['datasource', 'instance']);
  for (const [index, { type, title, gridPos: a, datasource, targets: each = [] }] of panels.entries()) {
    assert.ok(a.x >= 0 && a.x + a.w <= 24, title);
    for (const { gridPos: b } of panels.slice(index + 1))
      assert.ok(a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y, title);
    if (type === 'row') continue;
    assert.deepEqual(datasource, { type: 'prometheus', uid: '${datasource}' }, title);
    assert.ok(each.length > 0, title);
    assert.equal(new Set(each.map(({ refId }) => refId)).size, each.length);
  }
});
