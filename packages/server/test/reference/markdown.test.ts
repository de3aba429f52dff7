/** Markdown of guides and descriptions: markup in it is text, links lead where the page lets them, languages are tabs. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { html } from '../../src/reference/markup/html.ts';
import { renderMarkdown, renderText, resolveWebLink } from '../../src/reference/markup/markdown.ts';

const render = (text: string): string => renderMarkdown(text, resolveWebLink).body.text;

test('a template escapes what it is given, in texts and in attributes', () => {
  const evil = `<img src=x onerror="alert('1')">&amp;`;
  const escaped = '&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;amp;';
  assert.equal(html`<p title="${evil}">${evil}</p>`.text, `<p title="${escaped}">${escaped}</p>`);
  assert.equal(
    html`${[html`<b>${'<'}</b>`, false, undefined, 0, ['<', html`<i></i>`]]}`.text,
    '<b>&lt;</b>0&lt;<i></i>',
  );
});

test('markup in Markdown is shown as text, wherever it stands', () => {
  const evil = '<script>alert(1)</script>';
  const shown = '&lt;script&gt;alert(1)&lt;/script&gt;';
  assert.equal(render(evil), shown);
  assert.equal(render(`a ${evil} b`), `<p>a ${shown} b</p>`);
  assert.equal(render(`\`${evil}\``), `<p><code>${shown}</code></p>`);
  assert.equal(render(`- ${evil}`), `<ul><li>${shown}</li></ul>`);
  for (const text of [
    `# ${evil}`,
    `> ${evil}`,
    `| ${evil} |\n|---|\n| ${evil} |`,
    `\`\`\`html\n${evil}\n\`\`\``,
    `[${evil}](https://example.com)`,
    `**${evil}**`,
  ])
    assert.doesNotMatch(render(text), /<script|<img/, text);
  assert.equal(renderText('A type such as <b>Patient</b>').text, 'A type such as &lt;b&gt;Patient&lt;/b&gt;');
});

test('comments are left out, and character references are read', () => {
  assert.equal(render('<!-- generated:list -->\n\ntext &amp; more &lt;b&gt;'), '\n<p>text &amp; more &lt;b&gt;</p>');
});

test('links lead to the web or stay text: no scripts, no names that are only names', () => {
  assert.equal(
    render('[R4](https://hl7.org/fhir/R4/)'),
    '<p><a href="https://hl7.org/fhir/R4/" rel="noreferrer">R4</a></p>',
  );
  for (const target of [
    'javascript:alert(1)',
    'JAVASCRIPT:alert(1)',
    'data:text/html,x',
    '//example.com',
    '../x.md',
    'vbscript:x',
  ])
    assert.equal(render(`[text](${target})`), '<p>text</p>', target);
  assert.equal(
    render('https://praxis.health/fhir/OperationDefinition/book'),
    '<p>https://praxis.health/fhir/OperationDefinition/book</p>',
  );
  assert.equal(render('![picture](https://example.com/x.png)'), '<p>![picture](https://example.com/x.png)</p>');
});

test('code blocks that follow each other in different languages are tabs; output is none', () => {
  const text = [
    '```sh',
    'curl x',
    '```',
    '',
    '```ts',
    'await fetch("x")',
    '```',
    '```python',
    'httpx.get("x")',
    '```',
    '',
    '```json',
    '{}',
    '```',
  ].join('\n');
  const page = render(text);
  assert.deepEqual(
    [...page.matchAll(/<label for="code-1-\d">(\w+)<\/label>/g)].map(([, label]) => label),
    ['HTTP', 'TypeScript', 'Python'],
  );
  assert.equal(page.match(/ checked/g)?.length, 1);
  assert.match(page, /<\/fieldset>\n<pre tabindex="0"><code>\{\}<\/code><\/pre>$/);
});

test('two blocks of one language are not tabs, and each group has a name of its own', () => {
  assert.doesNotMatch(render('```sh\na\n```\n\n```sh\nb\n```'), /fieldset/);
  assert.doesNotMatch(render('```sh\na\n```\n\ntext\n\n```ts\nb\n```'), /fieldset/);
  const groups = render('```sh\na\n```\n```ts\nb\n```\n\ntext\n\n```sh\na\n```\n```ts\nb\n```');
  assert.deepEqual(
    new Set([...groups.matchAll(/ name="([^"]+)"/g)].map(([, name]) => name)),
    new Set(['code-1', 'code-2']),
  );
});

test('sections have the fragments that code hosts give to headings, and their text', () => {
  const { sections } = renderMarkdown(
    '# Title\n\nBefore.\n\n## Get a `token`, now!\n\n| a | b |\n|---|---|\n| c | d |\n\n### Deep\n\n- one\n- two\n',
    resolveWebLink,
  );
  assert.deepEqual(sections, [
    { id: '', depth: 1, title: 'Title', text: 'Before.' },
    { id: 'get-a-token-now', depth: 2, title: 'Get a token, now!', text: 'a b c d' },
    { id: 'deep', depth: 3, title: 'Deep', text: 'one two' },
  ]);
});
