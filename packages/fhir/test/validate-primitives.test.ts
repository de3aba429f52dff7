import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { findPrimitivePattern } from '../src/definitions.ts';
import { parseJson } from '../src/json.ts';
import { validateResource } from '../src/validate.ts';
import { assertDecisions } from './decision-table.ts';

fc.configureGlobal({ seed: 20261121 });

test('primitives: each value of a wrong format is refused with path, rule, code and words', () => {
  assertDecisions(String.raw`
{"resourceType":"Patient","birthDate":"1990-2-1"}
  Patient.birthDate | format | value | "1990-2-1" must be a date as YYYY, YYYY-MM or YYYY-MM-DD
{"resourceType":"Patient","birthDate":"1990-02-29"}
  Patient.birthDate | format | value | "1990-02-29" must be a day that exists: 1990-02 has 28 days
{"resourceType":"Patient","birthDate":"1900-02-29"}
  Patient.birthDate | format | value | "1900-02-29" must be a day that exists: 1900-02 has 28 days
{"resourceType":"Patient","birthDate":"2000-02-30"}
  Patient.birthDate | format | value | "2000-02-30" must be a day that exists: 2000-02 has 29 days
{"resourceType":"Patient","birthDate":"2001-04-31"}
  Patient.birthDate | format | value | "2001-04-31" must be a day that exists: 2001-04 has 30 days
{"resourceType":"Patient","birthDate":"1990-13"}
  Patient.birthDate | format | value | "1990-13" must be a date as YYYY, YYYY-MM or YYYY-MM-DD
{"resourceType":"Patient","birthDate":"0000"}
  Patient.birthDate | format | value | "0000" must be a date as YYYY, YYYY-MM or YYYY-MM-DD
{"resourceType":"Patient","birthDate":"90"}
  Patient.birthDate | format | value | "90" must be a date as YYYY, YYYY-MM or YYYY-MM-DD
{"resourceType":"Patient","birthDate":"1990-01-01T00:00:00Z"}
  Patient.birthDate | format | value | "1990-01-01T00:00:00Z" must be a date as YYYY, YYYY-MM or YYYY-MM-DD
{"resourceType":"Patient","birthDate":" 1990"}
  Patient.birthDate | format | value | " 1990" must be a date as YYYY, YYYY-MM or YYYY-MM-DD
{"resourceType":"Patient","deceasedDateTime":"2020-01-01T10:00:00"}
  Patient.deceased | format | value | "2020-01-01T10:00:00" must be a dateTime with a time zone (Z or ±hh:mm) after the time
{"resourceType":"Patient","deceasedDateTime":"2020-01-01T10:00Z"}
  Patient.deceased | format | value | "2020-01-01T10:00Z" must be a dateTime as YYYY, YYYY-MM, YYYY-MM-DD or YYYY-MM-DDThh:mm:ss with Z or ±hh:mm
{"resourceType":"Patient","deceasedDateTime":"2020-01-01T24:00:00Z"}
  Patient.deceased | format | value | "2020-01-01T24:00:00Z" must be a dateTime as YYYY, YYYY-MM, YYYY-MM-DD or YYYY-MM-DDThh:mm:ss with Z or ±hh:mm
{"resourceType":"Patient","deceasedDateTime":"2020-01-01T10:00:00+15:00"}
  Patient.deceased | format | value | "2020-01-01T10:00:00+15:00" must be a dateTime as YYYY, YYYY-MM, YYYY-MM-DD or YYYY-MM-DDThh:mm:ss with Z or ±hh:mm
{"resourceType":"Patient","deceasedDateTime":"2021-02-29T10:00:00Z"}
  Patient.deceased | format | value | "2021-02-29T10:00:00Z" must be a day that exists: 2021-02 has 28 days
{"resourceType":"Patient","deceasedDateTime":"2020-01-01 10:00:00Z"}
  Patient.deceased | format | value | "2020-01-01 10:00:00Z" must be a dateTime as YYYY, YYYY-MM, YYYY-MM-DD or YYYY-MM-DDThh:mm:ss with Z or ±hh:mm
{"resourceType":"Patient","deceasedDateTime":"2020-01T10:00:00Z"}
  Patient.deceased | format | value | "2020-01T10:00:00Z" must be a dateTime as YYYY, YYYY-MM, YYYY-MM-DD or YYYY-MM-DDThh:mm:ss with Z or ±hh:mm
{"resourceType":"Patient","meta":{"lastUpdated":"2020-01-01"}}
  Patient.meta.lastUpdated | format | value | "2020-01-01" must be an instant as YYYY-MM-DDThh:mm:ss with Z or ±hh:mm
{"resourceType":"Patient","meta":{"lastUpdated":"2020-02-30T10:00:00Z"}}
  Patient.meta.lastUpdated | format | value | "2020-02-30T10:00:00Z" must be a day that exists: 2020-02 has 29 days
{"resourceType":"Patient","meta":{"versionId":"a b"}}
  Patient.meta.versionId | id | value | must be an id: 1 to 64 of A-Z, a-z, 0-9, "-" and "."
{"resourceType":"Patient","id":"a_b"}
  Patient.id | id | value | must be an id: 1 to 64 of A-Z, a-z, 0-9, "-" and "."
{"resourceType":"Patient","id":""}
  Patient.id | empty | structure | may not be empty: leave the element out
{"resourceType":"Patient","id":5}
  Patient.id | type | structure | must be a JSON string
{"resourceType":"Patient","id":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}
  Patient.id | id | value | must be an id: 1 to 64 of A-Z, a-z, 0-9, "-" and "."
{"resourceType":"Patient","name":[{"id":"a b","family":"A"}]}
  Patient.name[0].id | id | value | must be an id of an element: no white space
{"resourceType":"Patient","implicitRules":"http://a b"}
  Patient.implicitRules | format | value | "http://a b" must be a URI: white space is not allowed
{"resourceType":"Patient","meta":{"profile":["http://example.org/a "]}}
  Patient.meta.profile[0] | format | value | "http://example.org/a " must be a URI: white space is not allowed
{"resourceType":"Patient","photo":[{"url":"http://example.org/\ta"}]}
  Patient.photo[0].url | format | value | "http://example.org/\ta" must be a URI: white space is not allowed
{"resourceType":"Patient","photo":[{"data":"abc"}]}
  Patient.photo[0].data | format | value | "abc" must be base64: groups of four of A-Z, a-z, 0-9, "+", "/", the last filled up with "="
{"resourceType":"Patient","photo":[{"data":"ab=c"}]}
  Patient.photo[0].data | format | value | "ab=c" must be base64: groups of four of A-Z, a-z, 0-9, "+", "/", the last filled up with "="
{"resourceType":"Patient","photo":[{"data":"QUJDQQ= ="}]}
  Patient.photo[0].data | format | value | "QUJDQQ= =" must be base64: groups of four of A-Z, a-z, 0-9, "+", "/", the last filled up with "="
{"resourceType":"Patient","photo":[{"data":"QQ==QUJD"}]}
  Patient.photo[0].data | format | value | "QQ==QUJD" must be base64: groups of four of A-Z, a-z, 0-9, "+", "/", the last filled up with "="
{"resourceType":"Patient","photo":[{"data":"a-_c"}]}
  Patient.photo[0].data | format | value | "a-_c" must be base64: groups of four of A-Z, a-z, 0-9, "+", "/", the last filled up with "="
{"resourceType":"Patient","photo":[{"data":" \n"}]}
  Patient.photo[0].data | format | value | " \n" must be base64: groups of four of A-Z, a-z, 0-9, "+", "/", the last filled up with "="
{"resourceType":"Patient","photo":[{"size":-1}]}
  Patient.photo[0].size | format | value | must be an integer from 0 to 2147483647
{"resourceType":"Patient","photo":[{"size":1.5}]}
  Patient.photo[0].size | format | value | must be an integer: no fraction, exponent or negative zero
{"resourceType":"Patient","photo":[{"size":"1"}]}
  Patient.photo[0].size | type | structure | must be a JSON number
{"resourceType":"Patient","telecom":[{"rank":0}]}
  Patient.telecom[0].rank | format | value | must be an integer from 1 to 2147483647
{"resourceType":"Patient","telecom":[{"rank":2147483648}]}
  Patient.telecom[0].rank | format | value | must be an integer from 1 to 2147483647
{"resourceType":"Patient","telecom":[{"rank":1.0}]}
  Patient.telecom[0].rank | format | value | must be an integer: no fraction, exponent or negative zero
{"resourceType":"Patient","telecom":[{"rank":1e2}]}
  Patient.telecom[0].rank | format | value | must be an integer: no fraction, exponent or negative zero
{"resourceType":"Patient","multipleBirthInteger":-2147483649}
  Patient.multipleBirth | format | value | must be an integer from -2147483648 to 2147483647
{"resourceType":"Patient","multipleBirthInteger":12345678901234567890}
  Patient.multipleBirth | format | value | must be an integer from -2147483648 to 2147483647
{"resourceType":"Patient","multipleBirthInteger":-0}
  Patient.multipleBirth | format | value | must be an integer: no fraction, exponent or negative zero
{"resourceType":"Observation","status":"final","code":{"text":"A"},"valueQuantity":{"value":"1.0"}}
  Observation.value.value | type | structure | must be a JSON number
{"resourceType":"Observation","status":"final","code":{"text":"A"},"valueQuantity":{"value":1e400}}
  Observation.value.value | format | value | must be a decimal within ±1.79e308
{"resourceType":"Observation","status":"final","code":{"text":"A"},"valueTime":"10:00"}
  Observation.value | format | value | "10:00" must be a time of day as hh:mm:ss, without time zone
{"resourceType":"Observation","status":"final","code":{"text":"A"},"valueTime":"10:00:00Z"}
  Observation.value | format | value | "10:00:00Z" must be a time of day as hh:mm:ss, without time zone
{"resourceType":"Observation","status":"final","code":{"text":"A"},"valueTime":"24:00:00"}
  Observation.value | format | value | "24:00:00" must be a time of day as hh:mm:ss, without time zone
{"resourceType":"Observation","status":"final","code":{"text":"A"},"valueQuantity":{"code":" mg"}}
  Observation.value.code | format | value | " mg" must be a code: no white space but single spaces between characters
{"resourceType":"Observation","status":"final","code":{"text":"A"},"valueQuantity":{"code":"a  b"}}
  Observation.value.code | format | value | "a  b" must be a code: no white space but single spaces between characters
{"resourceType":"Observation","status":"final","code":{"text":"A"},"valueQuantity":{"code":"a\tb"}}
  Observation.value.code | format | value | "a\tb" must be a code: no white space but single spaces between characters
{"resourceType":"Observation","status":"final","code":{"text":"A\u0000"}}
  Observation.code.text | format | value | "A\u0000" may not contain control characters other than tab, line feed and carriage return
{"resourceType":"Observation","status":"final","code":{"text":"A\u001b"}}
  Observation.code.text | format | value | "A\u001b" may not contain control characters other than tab, line feed and carriage return
{"resourceType":"Patient","extension":[{"url":"http://example.org/a","valueOid":"1.2.3"}]}
  Patient.extension[0].value | format | value | "1.2.3" must be an OID as urn:oid:1.2.3
{"resourceType":"Patient","extension":[{"url":"http://example.org/a","valueOid":"urn:oid:3.2"}]}
  Patient.extension[0].value | format | value | "urn:oid:3.2" must be an OID as urn:oid:1.2.3
{"resourceType":"Patient","extension":[{"url":"http://example.org/a","valueOid":"urn:oid:1.02"}]}
  Patient.extension[0].value | format | value | "urn:oid:1.02" must be an OID as urn:oid:1.2.3
{"resourceType":"Patient","extension":[{"url":"http://example.org/a","valueUuid":"urn:uuid:C757873D-EC9A-4326-A141-556F43239520"}]}
  Patient.extension[0].value | format | value | "urn:uuid:C757873D-EC9A-4326-A141-556F43239520" must be a UUID as urn:uuid: and 8-4-4-4-12 lower-case hexadecimal digits
{"resourceType":"Patient","extension":[{"url":"http://example.org/a","valueUuid":"c757873d-ec9a-4326-a141-556f43239520"}]}
  Patient.extension[0].value | format | value | "c757873d-ec9a-4326-a141-556f43239520" must be a UUID as urn:uuid: and 8-4-4-4-12 lower-case hexadecimal digits
{"resourceType":"Patient","extension":[{"url":"http://example.org/a","valueMarkdown":"\u0007"}]}
  Patient.extension[0].value | format | value | "\u0007" may not contain control characters other than tab, line feed and carriage return
{"resourceType":"Patient","extension":[{"url":"http://example.org/a","valueUnsignedInt":-1}]}
  Patient.extension[0].value | format | value | must be an integer from 0 to 2147483647
{"resourceType":"Patient","extension":[{"url":"http://example.org/a","valueId":"a/b"}]}
  Patient.extension[0].value | id | value | must be an id: 1 to 64 of A-Z, a-z, 0-9, "-" and "."
`);
});

test('strings have a maximum length', () => {
  const patient = (text: string) => ({ resourceType: 'Patient', maritalStatus: { text } });
  assert.deepEqual(validateResource(patient('x'.repeat(1024 * 1024))), []);
  assert.deepEqual(validateResource(patient('x'.repeat(1024 * 1024 + 1))), [
    {
      code: 'too-long',
      severity: 'error',
      path: 'Patient.maritalStatus.text',
      rule: 'too-long',
      diagnostics: 'Patient.maritalStatus.text: may have 1048576 characters at most',
    },
  ]);
});

/** Type → values that the type allows, as JSON. */
const accepted: Readonly<Record<string, readonly string[]>> = {
  base64Binary: ['"QQ=="', '"QUJD"', '" QUJD QUJD\\r\\nQUJDQQ== "'],
  boolean: ['true', 'false'],
  canonical: ['"http://example.org/a|1.0"', '"urn:uuid:53fefa32-fcbb-4ff8-8a92-55ee120877b7"'],
  code: ['"a"', '"a b"', '"a-b.c/d"', '"CHEST\\u00a0"'],
  date: ['"2024"', '"0001"', '"2024-02"', '"2024-02-29"', '"2000-02-29"', '"9999-12-31"'],
  dateTime: [
    '"2024"',
    '"2024-02-29"',
    '"2024-02-29T23:59:60Z"',
    '"2024-02-29T00:00:00.000000001+14:00"',
    '"2024-02-29T00:00:00-00:30"',
  ],
  decimal: ['0', '1', '-1.50', '1.00', '1E+2', '0.1e1', '-0', '123456789012345678901234567890.12'],
  id: ['"a"', '"A-1.b"', `"${'a'.repeat(64)}"`],
  instant: ['"2024-02-29T23:59:59Z"', '"2024-02-29T23:59:59.123-13:59"'],
  integer: ['0', '-2147483648', '2147483647'],
  markdown: ['"# A\\n\\nB\\t"'],
  oid: ['"urn:oid:0.1"', '"urn:oid:2.16.840.1.113883"'],
  positiveInt: ['1', '2147483647'],
  string: ['"A"', '" "', '"A\\r\\n\\tB"', '"\\u00e9\\ud83d\\ude00"'],
  time: ['"00:00:00"', '"23:59:60"', '"12:00:00.123456"'],
  unsignedInt: ['0', '2147483647'],
  uri: ['"a"', '"http://example.org/\\u00e9"', '"urn:a:b"'],
  url: ['"https://example.org/a?b=c#d"'],
  uuid: ['"urn:uuid:c757873d-ec9a-4326-a141-556f43239520"'],
};

test('values that R4 allows are accepted', () => {
  for (const [type, values] of Object.entries(accepted)) {
    for (const value of values) assert.deepEqual(validateValue(type, value), [], `${type} ${value}`);
  }
});

test('property: short values are accepted as the patterns of R4 have it, real days aside', () => {
  const pieces = fc.constantFrom(
    'urn:oid:',
    '1',
    '0',
    '2.',
    '2024',
    '-',
    '02',
    '-30',
    'T',
    '10:00:00',
    '.5',
    'Z',
    '+14:00',
    '+02:30',
    'a',
    ' ',
    '.',
  );
  for (const type of ['date', 'dateTime', 'instant', 'time', 'id', 'oid']) {
    const published = new RegExp(`^(?:${findPrimitivePattern(type)})$`);
    fc.assert(
      fc.property(fc.array(pieces, { minLength: 1, maxLength: 8 }), (parts) => {
        const value = parts.join('');
        const ours = validateValue(type, JSON.stringify(value));
        if (ours[0]?.includes('must be a day that exists')) return;
        assert.equal(ours.length === 0, published.test(value), `${type} ${value}`);
      }),
      { numRuns: 3000 },
    );
  }
});

test('property: a day is accepted exactly when the calendar has it', () => {
  const two = (number: number) => String(number).padStart(2, '0');
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 9999 }),
      fc.integer({ min: 1, max: 12 }),
      fc.integer({ min: 1, max: 31 }),
      (year, month, day) => {
        const date = new Date(0);
        date.setUTCFullYear(year, month - 1, day);
        const text = `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`;
        assert.equal(validateValue('date', JSON.stringify(text)).length === 0, date.getUTCDate() === day, text);
      },
    ),
    { numRuns: 3000 },
  );
});

/** The diagnostics for a value as a type, in an extension. */
function validateValue(type: string, json: string): string[] {
  const name = `value${type.charAt(0).toUpperCase()}${type.slice(1)}`;
  const text = `{"resourceType":"Patient","extension":[{"url":"http://example.org/a","${name}":${json}}]}`;
  return validateResource(parseJson(text)).map(({ diagnostics }) => diagnostics);
}
