/**
 * The patients that a resource is about: the patient itself, else those that it refers to, at any depth. More than the
 * patient compartment asks for (https://hl7.org/fhir/R4/compartmentdefinition-patient.html), and found without parsing.
 */
import { type Patients, rowPatientsMax } from './audit-row.ts';

/** Where a reference to a patient may be. Its first letter is rarer than a quote, which makes the look for it quicker. */
const mark = 'Patient/';

/** In JSON text as the server writes it. Inside a string the quotes would be escaped, so no value can look like this. */
const relativeBegin = '"reference":"';
const absoluteMark = '"reference":"http';
const relativeId = /([A-Za-z0-9\-.]{1,64})["/]/y;
const absoluteReference = /"reference":"(https?:[^"]*)\/Patient\/([A-Za-z0-9\-.]{1,64})(?=["/])/g;

/** Gathers distinct patients up to the limit. */
export interface PatientSet {
  add(id: string): void;
  /** Adds those of a resource. @param content its JSON text; empty: none */
  addOf(type: string, id: string, content: string, baseUrl: string): void;
  read(): Patients | undefined;
}

export function openPatientSet(): PatientSet {
  const ids = new Set<string>();
  let more = false;
  const add = (id: string): void => {
    if (ids.size < rowPatientsMax) ids.add(id);
    else more ||= !ids.has(id);
  };
  return {
    add,
    addOf(type, id, content, baseUrl) {
      if (type === 'Patient') return add(id);
      // Looked for by texts, which takes a fraction of the time of an expression: every row that is shown is looked at.
      let mayBeAbsolute = false;
      for (let at = content.indexOf(mark); at >= 0; at = content.indexOf(mark, at)) {
        mayBeAbsolute ||= content[at - 1] === '/';
        const isRelative = content.startsWith(relativeBegin, at - relativeBegin.length);
        at += mark.length;
        if (!isRelative) continue;
        relativeId.lastIndex = at;
        const patient = relativeId.exec(content)?.[1];
        if (patient !== undefined) add(patient);
      }
      if (!mayBeAbsolute || !content.includes(absoluteMark)) return;
      for (const [, base, patient = ''] of content.matchAll(absoluteReference)) if (base === baseUrl) add(patient);
    },
    read: () => (ids.size === 0 ? undefined : { ids: [...ids], more }),
  };
}

/** The patients of one resource; undefined: none. */
export function findPatients(type: string, id: string, content: string, baseUrl: string): Patients | undefined {
  const set = openPatientSet();
  set.addOf(type, id, content, baseUrl);
  return set.read();
}
