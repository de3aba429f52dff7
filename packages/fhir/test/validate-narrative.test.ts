import assert from 'node:assert/strict';
import test from 'node:test';
import { validateResource } from '../src/validate.ts';

const namespace = 'must have the namespace: <div xmlns="http://www.w3.org/1999/xhtml">';
const entity = 'must be well-formed: "&" must begin &amp; &lt; &gt; &quot; &apos; or a character number';
const empty = 'must have some content: text or an image (txt-2)';
const style = 'may not contain escapes, comments, imports, scripts or external URLs in style of <p> (txt-1)';
const declaration = 'may not contain CDATA sections, declarations or processing instructions';
const comment = 'must be well-formed: a comment may neither begin with ">" nor contain "--", and must end';
const script = 'may not contain the URL scheme javascript: in href of <a> (txt-1)';

/** A whole div → what is said of it. */
const wholeDivs: readonly (readonly [div: string, problem: string])[] = [
  ['A', 'must be a <div> element'],
  ['<p>A</p>', 'must be a <div> element'],
  ['<divx>A</divx>', 'must be a <div> element'],
  ['<!DOCTYPE div><div>A</div>', 'must be a <div> element'],
  ['<?xml version="1.0"?><div>A</div>', 'must be a <div> element'],
  ['<div>A</div>', namespace],
  ['<div xmlns="http://example.org/">A</div>', namespace],
  [
    '<div xmlns="http://www.w3.org/1999/xhtml"',
    'must be well-formed: the attributes of <div> are broken at character 42',
  ],
  ['<div xmlns="http://www.w3.org/1999/xhtml"/>', empty],
  ['<div xmlns="http://www.w3.org/1999/xhtml">A', 'must be well-formed: <div> is not closed'],
  ['<div xmlns="http://www.w3.org/1999/xhtml">A</div>B', 'must be one <div>: nothing may follow it'],
  ['<div xmlns="http://www.w3.org/1999/xhtml">A</div><div/>', 'must be one <div>: nothing may follow it'],
  [
    '<div xmlns="http://www.w3.org/1999/xhtml" onload="a()">A</div>',
    'may not contain the attribute onload at <div> (txt-1)',
  ],
];

/** The content of a div → what is said of it. */
const contents: readonly (readonly [content: string, problem: string])[] = [
  ['', empty],
  [' \n<p> </p>', empty],
  ['<!-- A -->', empty],
  ['<p>A', 'must be well-formed: </div> does not close <p>'],
  ['A</p>', 'must be well-formed: </p> does not close <div>'],
  ['A<br>', 'must be well-formed: </div> does not close <br>'],
  ['A</p', 'must be well-formed: an end tag is broken at character 44'],
  ['A < B', 'must be well-formed: "<" begins no tag at character 45'],
  ['A & B', entity],
  ['A&nbsp;B', entity],
  ['A&lt B', entity],
  ['<p title="&nbsp;">A</p>', entity],
  ['&#0;', 'must be well-formed: &#0; is no character of XML'],
  ['&#xD800;', 'must be well-formed: &#xD800; is no character of XML'],
  ['&#x110000;', 'must be well-formed: &#x110000; is no character of XML'],
  ['A\u0001', 'must be well-formed: a control character is no character of XML'],
  ['A]]>', 'must be well-formed: "]]>" must be written "]]&gt;"'],
  ['<P>A</P>', 'may not contain the element <P> (txt-1)'],
  ['<script>alert(1)</script>', 'may not contain the element <script> (txt-1)'],
  ['<SCRIPT>alert(1)</SCRIPT>', 'may not contain the element <SCRIPT> (txt-1)'],
  ['<style>p{}</style>A', 'may not contain the element <style> (txt-1)'],
  ['<iframe src="http://example.org/"/>A', 'may not contain the element <iframe> (txt-1)'],
  ['<object/>A', 'may not contain the element <object> (txt-1)'],
  ['<form/>A', 'may not contain the element <form> (txt-1)'],
  ['<input/>A', 'may not contain the element <input> (txt-1)'],
  ['<svg/>A', 'may not contain the element <svg> (txt-1)'],
  ['<x:p>A</x:p>', 'may not contain the element <x:p> (txt-1)'],
  ['<ins>A</ins>', 'may not contain the element <ins> (txt-1)'],
  ['<link href="a"/>A', 'may not contain the element <link> (txt-1)'],
  [`<${'a'.repeat(40)}/>A`, `may not contain the element <${'a'.repeat(32)}…> (txt-1)`],
  ['<p onclick="a()">A</p>', 'may not contain the attribute onclick at <p> (txt-1)'],
  ['<p href="a">A</p>', 'may not contain the attribute href at <p> (txt-1)'],
  ['<p class=a>A</p>', 'must be well-formed: the attributes of <p> are broken at character 45'],
  ['<p class>A</p>', 'must be well-formed: the attributes of <p> are broken at character 45'],
  ['<p class="<">A</p>', 'must be well-formed: the attributes of <p> are broken at character 45'],
  ['<p class="a"id="b">A</p>', 'must be well-formed: the attributes of <p> are broken at character 55'],
  ['<p class="a" class="b">A</p>', 'must be well-formed: <p> has the attribute class twice'],
  ['<a href="javascript:alert(1)">A</a>', script],
  ['<a href="JavaScript:alert(1)">A</a>', script],
  ['<a href=" java&#10;script:alert(1)">A</a>', script],
  ['<a href="java\tscript&#58;alert(1)">A</a>', script],
  ['<a href="&#x6A;avascript:alert(1)">A</a>', script],
  ['<a href="data:text/html;base64,AAAA">A</a>', 'may not contain the URL scheme data: in href of <a> (txt-1)'],
  ['<img src="vbscript:a"/>', 'may not contain the URL scheme vbscript: in src of <img> (txt-1)'],
  ['<img src="data:image/svg+xml;base64,AA"/>', 'may contain data: URLs of pixel images only: in src of <img> (txt-1)'],
  ['<p style="background:url(http://example.org/a.png)">A</p>', style],
  ['<p style="background:url(  javascript:a )">A</p>', style],
  ['<p style="background:url(data:text/html,a)">A</p>', style],
  ['<p style="width:expression(alert(1))">A</p>', style],
  ['<p style="width:exp\\72 ession(alert(1))">A</p>', style],
  ['<p style="width:&#101;xpression(alert(1))">A</p>', style],
  ['<p style="a:/**/b">A</p>', style],
  ['<p style="@import \'a\'">A</p>', style],
  ['<p style="behavior:a">A</p>', style],
  ['<![CDATA[><script>alert(1)</script>]]>A', declaration],
  ['<?php a ?>A', declaration],
  ['<!ENTITY a "b">A', declaration],
  ['<!--><script>alert(1)</script>-->A', comment],
  ['<!--->A', comment],
  ['<!-- a -- b -->A', comment],
  ['<!-- a --->A', comment],
  ['<!-- a>A', comment],
  [`${'<b>'.repeat(200)}A${'</b>'.repeat(200)}`, 'may nest elements 200 deep at most'],
];

const accepted: readonly string[] = [
  'A',
  '\u00a0',
  '&amp;&lt;&gt;&quot;&apos;&#160;&#x1F600;',
  '<!-- a - b --><p>A</p>',
  '<p class=\'a\' id = "b">A<br/>B<br /></p >',
  '<img src="data:image/png;base64,AAAA" alt=""/>',
  '<img src="#photo" alt="A"/>',
  '<a name="a"/><a href="#a">A</a><a href="http://example.org/?a=1&amp;b=2#c">B</a><a href="mailto:a@example.org">C</a>',
  '<a href="Patient/1">A</a><a href="../a:b">B</a>',
  '<table border="1"><thead><tr><th colspan="2">A</th></tr></thead><tbody><tr><td style="color: red">1</td></tr></tbody></table>',
  '<p style="background-image: url( \'data: image/png;base64,AAAA\' )">A</p>',
  '<p xml:lang="de" lang="de" dir="ltr" title="a &gt; b">A</p>',
  `${'<b>'.repeat(199)}A${'</b>'.repeat(199)}`,
];

test('narrative: each unsafe or broken div is refused and the fault named', () => {
  for (const [div, problem] of wholeDivs) assertRefused(div, problem);
  for (const [content, problem] of contents) assertRefused(inDiv(content), problem);
});

test('narrative: harmless divs are accepted', () => {
  for (const content of accepted) assert.deepEqual(validateDiv(inDiv(content)), [], content);
  assert.deepEqual(validateDiv(`\n  ${inDiv('A')}\n`), []);
});

test('narrative: hostile lengths take no more than linear time', () => {
  const length = 1_000_000;
  const hostile = [
    inDiv('A&amp;'.repeat(length / 5)),
    inDiv('<b>A</b>'.repeat(length / 8)),
    inDiv(`<p${' '.repeat(length)}x>A</p>`),
    inDiv(`<p style="${'url('.repeat(length / 4)}">A</p>`),
    inDiv(`<p style="url(${' '.repeat(length)}">A</p>`),
    inDiv(`<!--${'- '.repeat(length / 2)}`),
    inDiv('<'.repeat(length)),
    `${' '.repeat(length)}x`,
  ];
  const start = performance.now();
  for (const div of hostile) validateDiv(div);
  assert.ok(performance.now() - start < 2_000, `${performance.now() - start} ms`);
});

function inDiv(content: string): string {
  return `<div xmlns="http://www.w3.org/1999/xhtml">${content}</div>`;
}

function validateDiv(div: string) {
  return validateResource({ resourceType: 'Patient', text: { status: 'generated', div } });
}

function assertRefused(div: string, problem: string): void {
  assert.deepEqual(
    validateDiv(div),
    [
      {
        code: 'invalid',
        severity: 'error',
        path: 'Patient.text.div',
        rule: 'narrative',
        diagnostics: `Patient.text.div: ${problem}`,
      },
    ],
    div,
  );
}
