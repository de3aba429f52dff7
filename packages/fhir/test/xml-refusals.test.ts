/** XML that is refused: not well-formed, hostile, in another namespace, or not how FHIR writes resources. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { parseXml, XmlError, type XmlRule } from '../src/index.ts';

const open = '<Patient xmlns="http://hl7.org/fhir">';
const close = '</Patient>';

/** text → rule, path, line:column, and the message without path and position */
type Refusal = readonly [text: string, rule: XmlRule, path: string, position: string, problem: string];

/** What stands inside a Patient; columns count from there. */
const insidePatient: readonly Refusal[] = [
  ['</Patient>', 'syntax', '', '1:11', 'nothing may follow the one element of the text'],
  [
    '</Patient><Patient xmlns="http://hl7.org/fhir">',
    'syntax',
    '',
    '1:11',
    'nothing may follow the one element of the text',
  ],
  ['<active value="true">', 'syntax', 'Patient.active', '1:22', '</Patient> does not close <active>'],
  ['<active value=true/>', 'syntax', 'Patient', '1:15', 'the value of value must stand in quotes'],
  ['<active value/>', 'syntax', 'Patient', '1:14', '"=" is expected after value'],
  ['<active value="true" value="false"/>', 'syntax', 'Patient', '1:22', '<active> has the attribute value twice'],
  ['<active value="tr<ue"/>', 'syntax', 'Patient', '1:18', '"<" must be written "&lt;" in an attribute'],
  ['<active value="true"id="a"/>', 'syntax', 'Patient', '1:21', '">" or white space is expected in <active>'],
  ['<active value="true', 'syntax', 'Patient', '1:30', 'an attribute value is not closed: found the end of the text'],
  ['<1a/>', 'syntax', 'Patient', '1:2', 'an element name is expected'],
  ['< active/>', 'syntax', 'Patient', '1:2', 'an element name is expected'],
  [
    '<active value="a&b"/>',
    'syntax',
    'Patient',
    '1:17',
    '"&" must begin &amp; &lt; &gt; &quot; &apos; or a character number',
  ],
  ['<active value="&#0;"/>', 'syntax', 'Patient', '1:16', '&#0; is no character of XML'],
  ['<active value="&#xD800;"/>', 'syntax', 'Patient', '1:16', '&#xD800; is no character of XML'],
  ['<active value="\u0000"/>', 'syntax', '', '1:16', 'U+0000 is no character of XML'],
  ['<active value="\uffff"/>', 'syntax', '', '1:16', 'U+FFFF is no character of XML'],
  [
    '<active value="\ud800"/>',
    'syntax',
    '',
    '1:16',
    'half of a surrogate pair stands alone: the text is not valid Unicode',
  ],
  ['<!-- a -- b -->', 'syntax', 'Patient', '1:8', 'a comment may not contain "--", and must end with "-->"'],
  ['<!-- a', 'syntax', 'Patient', '1:1', 'a comment may not contain "--", and must end with "-->"'],
  ['<?a', 'syntax', 'Patient', '1:1', 'a processing instruction must have a target and end with "?>"'],
  [
    '<?xml version="1.0"?>',
    'syntax',
    'Patient',
    '1:1',
    'the XML declaration may stand at the very beginning of the text only',
  ],
  ['<![CDATA[x]]>', 'structure', 'Patient', '1:1', 'a CDATA section is not accepted'],
  ['<!ELEMENT a>', 'syntax', 'Patient', '1:1', '"<!" begins no comment'],
  ['<?a:b?>', 'namespace', 'Patient', '1:1', 'the target of a processing instruction may have no colon'],
  ['<!DOCTYPE Patient>', 'doctype', 'Patient', '1:1', 'a DOCTYPE is not accepted: a FHIR resource has no DTD'],
  [
    '<birthDate value="&xxe;"/>',
    'entity',
    'Patient',
    '1:19',
    'the entity &xxe; is not accepted: "&" must begin &amp; &lt; &gt; &quot; &apos; or a character number',
  ],
  [
    '&xxe;',
    'entity',
    'Patient',
    '1:1',
    'the entity &xxe; is not accepted: "&" must begin &amp; &lt; &gt; &quot; &apos; or a character number',
  ],
  [
    '<text><status value="generated"/><div xmlns="http://www.w3.org/1999/xhtml">&nbsp;</div></text>',
    'entity',
    'Patient.text.div',
    '1:76',
    'the entity &nbsp; is not accepted: "&" must begin &amp; &lt; &gt; &quot; &apos; or a character number',
  ],
  [
    '<name xmlns="http://example.org"/>',
    'namespace',
    'Patient',
    '1:1',
    '<name> must be in the namespace "http://hl7.org/fhir", not "http://example.org"',
  ],
  [
    '<e:x xmlns:e="http://example.org"/>',
    'namespace',
    'Patient',
    '1:1',
    '<e:x> must be in the namespace "http://hl7.org/fhir", not "http://example.org"',
  ],
  ['<active value="true" e:x="1"/>', 'namespace', 'Patient.active', '1:22', 'the prefix e is not declared'],
  [
    '<active value="true" xmlns:e="http://example.org" e:x="1"/>',
    'structure',
    'Patient.active',
    '1:51',
    'the attribute e:x is not one of boolean',
  ],
  [
    '<active value="true" xml:lang="en"/>',
    'structure',
    'Patient.active',
    '1:22',
    'the attribute xml:lang is not one of boolean',
  ],
  [
    '<text><status value="generated"/><div>a</div></text>',
    'namespace',
    'Patient.text.div',
    '1:34',
    'must be in the namespace of xhtml: <div xmlns="http://www.w3.org/1999/xhtml">',
  ],
  [
    '<text><status value="generated"/><div xmlns="http://example.org">a</div></text>',
    'namespace',
    'Patient.text.div',
    '1:34',
    'must be in the namespace of xhtml: <div xmlns="http://www.w3.org/1999/xhtml">',
  ],
  [
    '<text><status value="generated"/><div xmlns="http://www.w3.org/1999/xhtml"><b>a</div></text>',
    'syntax',
    'Patient.text.div',
    '1:80',
    '</div> does not close <b>',
  ],
  [
    '<text><status value="generated"/><div xmlns="http://www.w3.org/1999/xhtml">a]]>b</div></text>',
    'syntax',
    'Patient.text.div',
    '1:77',
    '"]]>" must be written "]]&gt;"',
  ],
  [
    '<text><status value="generated"/><div xmlns="http://www.w3.org/1999/xhtml"><![CDATA[a</div></text>',
    'syntax',
    'Patient.text.div',
    '1:76',
    'a CDATA section must end with "]]>"',
  ],
  [
    '<text><status value="generated"/><h:div xmlns:h="http://www.w3.org/1999/xhtml"><b>a</b></h:div></text>',
    'namespace',
    'Patient.text.div',
    '1:80',
    '<b> must have the namespace prefix of its div',
  ],
  [
    '<text><status value="generated"/><div xmlns="http://www.w3.org/1999/xhtml"><f:b>a</f:b></div></text>',
    'namespace',
    'Patient.text.div',
    '1:76',
    '<f:b> must have the namespace prefix of its div',
  ],
  [
    '<birthDate>1980-01-01</birthDate>',
    'structure',
    'Patient.birthDate',
    '1:12',
    'text is not allowed here: a value stands in the attribute "value"',
  ],
  ['text', 'structure', 'Patient', '1:1', 'text is not allowed here: a value stands in the attribute "value"'],
  [
    '<birthDate/>',
    'structure',
    'Patient.birthDate',
    '1:1',
    'is empty: an element has a value, an extension, or is left out',
  ],
  [
    '<birthDate></birthDate>',
    'structure',
    'Patient.birthDate',
    '1:1',
    'is empty: an element has a value, an extension, or is left out',
  ],
  ['<birthDate val="1980"/>', 'structure', 'Patient.birthDate', '1:12', 'the attribute val is not one of date'],
  ['<name value="Ann"/>', 'structure', 'Patient.name[0]', '1:7', 'the attribute value is not one of HumanName'],
  ['<name family="Ann"/>', 'structure', 'Patient.name[0]', '1:7', 'the attribute family is not one of HumanName'],
  ['<name><id value="a"/></name>', 'structure', 'Patient.name[0].id', '1:7', 'id is an attribute of <name>'],
  [
    '<extension><url value="http://example.org"/></extension>',
    'structure',
    'Patient.extension[0].url',
    '1:12',
    'url is an attribute of <extension>',
  ],
  [
    '<contained id="a"><Patient/></contained>',
    'structure',
    'Patient.contained[0]',
    '1:12',
    'the attribute id is not one of an element that holds a resource',
  ],
  [
    '<birthDate value="1980"/><gender value="male"/>',
    'structure',
    'Patient.gender',
    '1:26',
    'must stand before birthDate: elements have the order of the definition',
  ],
  [
    '<name><given value="A"/><family value="B"/></name>',
    'structure',
    'Patient.name[0].family',
    '1:25',
    'must stand before given: elements have the order of the definition',
  ],
  [
    '<name/><active value="true"/><name/>',
    'structure',
    'Patient.active',
    '1:8',
    'must stand before name: elements have the order of the definition',
  ],
  [
    '<birthDate value="1980"/><birthDate value="1981"/>',
    'structure',
    'Patient.birthDate',
    '1:26',
    'birthDate stands twice: it has one value at most',
  ],
  [
    '<maritalStatus/><maritalStatus/>',
    'structure',
    'Patient.maritalStatus',
    '1:17',
    'maritalStatus stands twice: it has one value at most',
  ],
  ['<active value="yes"/>', 'value', 'Patient.active', '1:9', '"yes" is no boolean: true or false'],
  ['<active value="1"/>', 'value', 'Patient.active', '1:9', '"1" is no boolean: true or false'],
  ['<active value="TRUE"/>', 'value', 'Patient.active', '1:9', '"TRUE" is no boolean: true or false'],
  ['<active value=""/>', 'value', 'Patient.active', '1:9', '"" is no boolean: true or false'],
  ['<multipleBirthInteger value="two"/>', 'value', 'Patient.multipleBirth', '1:23', '"two" is no integer'],
  ['<multipleBirthInteger value="007"/>', 'value', 'Patient.multipleBirth', '1:23', '"007" is no integer'],
  ['<multipleBirthInteger value="0x1"/>', 'value', 'Patient.multipleBirth', '1:23', '"0x1" is no integer'],
  ['<contained/>', 'structure', 'Patient.contained[0]', '1:1', 'must hold a resource'],
  ['<contained></contained>', 'structure', 'Patient.contained[0]', '1:12', 'must hold a resource'],
  [
    '<contained><Patient/><Patient/></contained>',
    'structure',
    'Patient.contained[0]',
    '1:22',
    'may hold one resource only',
  ],
  [
    '<contained>x</contained>',
    'structure',
    'Patient.contained[0]',
    '1:12',
    'text is not allowed here: a value stands in the attribute "value"',
  ],
  ['<resourceType value="Bundle"/>', 'structure', 'Patient.resourceType', '1:1', 'unknown element'],
  ['<_birthDate value="1"/>', 'structure', 'Patient._birthDate', '1:1', 'unknown element'],
  ['<__proto__><polluted value="1"/></__proto__>', 'structure', 'Patient.__proto__', '1:1', 'unknown element'],
  ['<name><__proto__ value="1"/></name>', 'structure', 'Patient.name[0].__proto__', '1:7', 'unknown element'],
];

/** Whole texts. */
const documents: readonly Refusal[] = [
  ['', 'syntax', '', '1:1', 'an element is expected: "<"'],
  ['  \n ', 'syntax', '', '2:2', 'an element is expected: "<"'],
  ['Patient', 'syntax', '', '1:1', 'an element is expected: "<"'],
  ['{"resourceType":"Patient"}', 'syntax', '', '1:1', 'an element is expected: "<"'],
  ['<', 'syntax', '', '1:2', 'an element name is expected'],
  ['<Patient', 'syntax', '', '1:9', '">" or white space is expected in <Patient>'],
  ['<Patient>', 'namespace', '', '1:1', '<Patient> must be in the namespace "http://hl7.org/fhir", not none'],
  [
    '<Patient xmlns="http://hl7.org/fhir">',
    'syntax',
    'Patient',
    '1:38',
    '<Patient> is not closed: found the end of the text',
  ],
  ['<Patient xmlns="http://hl7.org/fhir"></Patien>', 'syntax', 'Patient', '1:38', '</Patien> does not close <Patient>'],
  [
    '<Patient xmlns="http://hl7.org/fhir"></Patient >x',
    'syntax',
    '',
    '1:49',
    'nothing may follow the one element of the text',
  ],
  [
    ' <?xml version="1.0"?><Patient xmlns="http://hl7.org/fhir"></Patient>',
    'syntax',
    '',
    '1:2',
    'the XML declaration may stand at the very beginning of the text only',
  ],
  [
    '<!DOCTYPE Patient><Patient xmlns="http://hl7.org/fhir"></Patient>',
    'doctype',
    '',
    '1:1',
    'a DOCTYPE is not accepted: a FHIR resource has no DTD',
  ],
  [
    '<!DOCTYPE Patient SYSTEM "file:///etc/passwd"><Patient xmlns="http://hl7.org/fhir"></Patient>',
    'doctype',
    '',
    '1:1',
    'a DOCTYPE is not accepted: a FHIR resource has no DTD',
  ],
  [
    '<!DOCTYPE lolz [<!ENTITY lol "lol"><!ENTITY lol1 "&lol;&lol;">]><Patient xmlns="http://hl7.org/fhir"></Patient>',
    'doctype',
    '',
    '1:1',
    'a DOCTYPE is not accepted: a FHIR resource has no DTD',
  ],
  [
    '<?xml version="1.0"?>\n<!DOCTYPE foo [<!ENTITY % xxe SYSTEM "http://example.org/evil.dtd"> %xxe;]>\n<Patient xmlns="http://hl7.org/fhir"></Patient>',
    'doctype',
    '',
    '2:1',
    'a DOCTYPE is not accepted: a FHIR resource has no DTD',
  ],
  [
    '<?xml version="1.1"?><Patient xmlns="http://hl7.org/fhir"></Patient>',
    'syntax',
    '',
    '1:1',
    'the version of XML must be 1.0, not 1.1',
  ],
  [
    '<?xml version="1.0" encoding="ISO-8859-1"?><Patient xmlns="http://hl7.org/fhir"></Patient>',
    'encoding',
    '',
    '1:1',
    'the encoding must be UTF-8, not ISO-8859-1',
  ],
  [
    "<?xml version='1.0' encoding='utf-16'?><Patient xmlns=\"http://hl7.org/fhir\"></Patient>",
    'encoding',
    '',
    '1:1',
    'the encoding must be UTF-8, not utf-16',
  ],
  [
    '<?xml encoding="UTF-8"?><Patient xmlns="http://hl7.org/fhir"></Patient>',
    'syntax',
    '',
    '1:1',
    'the XML declaration is broken',
  ],
  [
    '<?xml version="1.0" standalone="maybe"?><Patient xmlns="http://hl7.org/fhir"></Patient>',
    'syntax',
    '',
    '1:1',
    'the XML declaration is broken',
  ],
  ['<Patient/>', 'namespace', '', '1:1', '<Patient> must be in the namespace "http://hl7.org/fhir", not none'],
  [
    '<Patient xmlns="http://hl7.org/fhir/"/>',
    'namespace',
    '',
    '1:1',
    '<Patient> must be in the namespace "http://hl7.org/fhir", not "http://hl7.org/fhir/"',
  ],
  ['<f:Patient xmlns="http://hl7.org/fhir"/>', 'namespace', '', '1:1', 'the prefix f is not declared'],
  ['<f:Patient xmlns:f=""/>', 'namespace', '', '1:12', 'the prefix f must have a namespace'],
  [
    '<Patient xmlns="http://hl7.org/fhir" xmlns:xml="http://example.org"/>',
    'namespace',
    '',
    '1:38',
    'the prefixes and namespaces of xml and xmlns are reserved',
  ],
  [
    '<Patient xmlns="http://hl7.org/fhir" xmlns:a="http://www.w3.org/2000/xmlns/"/>',
    'namespace',
    '',
    '1:38',
    'the prefixes and namespaces of xml and xmlns are reserved',
  ],
  ['<a:b:Patient xmlns:a="http://hl7.org/fhir"/>', 'namespace', '', '1:2', 'a:b:Patient is no name with a prefix'],
  ['<:Patient xmlns="http://hl7.org/fhir"/>', 'syntax', '', '1:2', 'an element name is expected'],
  [
    '<Patient xmlns="http://hl7.org/fhir" xmlns:a="http://www.w3.org/2001/XMLSchema-instance" xmlns:b="http://www.w3.org/2001/XMLSchema-instance" a:schemaLocation="x" b:schemaLocation="y"/>',
    'syntax',
    'Patient',
    '1:163',
    'the attribute schemaLocation stands twice under different prefixes',
  ],
  [
    '<Patient xmlns="http://hl7.org/fhir" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="Patient"/>',
    'structure',
    'Patient',
    '1:92',
    'the attribute xsi:type is not one of Patient',
  ],
  [
    '<Patient xmlns="http://hl7.org/fhir"><text><status value="generated"/><div xmlns="http://www.w3.org/1999/xhtml">a',
    'syntax',
    'Patient.text.div',
    '1:114',
    '<div> is not closed: found the end of the text',
  ],
  [
    '<Patient xmlns="http://hl7.org/fhir" id="a"/>',
    'structure',
    'Patient',
    '1:38',
    'the attribute id is not one of Patient',
  ],
  [
    '<Observation xmlns="http://hl7.org/fhir"><valueQuantity><value value="NaN"/></valueQuantity></Observation>',
    'value',
    'Observation.value.value',
    '1:64',
    '"NaN" is no decimal',
  ],
  [
    '<Observation xmlns="http://hl7.org/fhir"><valueQuantity><value value="+1.5"/></valueQuantity></Observation>',
    'value',
    'Observation.value.value',
    '1:64',
    '"+1.5" is no decimal',
  ],
  [
    '<Observation xmlns="http://hl7.org/fhir"><valueQuantity><value value="1,5"/></valueQuantity></Observation>',
    'value',
    'Observation.value.value',
    '1:64',
    '"1,5" is no decimal',
  ],
  [
    '<Observation xmlns="http://hl7.org/fhir"><valueQuantity><value value=".5"/></valueQuantity></Observation>',
    'value',
    'Observation.value.value',
    '1:64',
    '".5" is no decimal',
  ],
];

test('XML that breaks a rule is refused with rule, path and position', () => {
  for (const [text, rule, path, position, problem] of documents) assertRefused(text, rule, path, position, problem);
  for (const [inner, rule, path, position, problem] of insidePatient) {
    const [line = '', column = ''] = position.split(':');
    const offset = line === '1' ? open.length : 0;
    assertRefused(open + inner + close, rule, path, `${line}:${Number(column) + offset}`, problem);
  }
});

function assertRefused(text: string, rule: XmlRule, path: string, position: string, problem: string): void {
  const error = refusal(text);
  const [line, column] = position.split(':');
  const found = [error.rule, error.path, `${error.line}:${error.column}`, error.message];
  const message = `${path === '' ? '' : `${path}: `}${problem} (line ${line}, column ${column})`;
  assert.deepEqual(found, [rule, path, position, message], text);
}

function refusal(text: string): XmlError {
  try {
    parseXml(text);
  } catch (error) {
    if (error instanceof XmlError) return error;
    throw error;
  }
  return assert.fail(`accepted: ${text.slice(0, 200)}`);
}
