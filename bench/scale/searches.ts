/**
 * The searches of the scale bench, as query strings that are not encoded. Each takes its arguments from resources that
 * exist, so that it finds something.
 */
import { toInstant } from '../../packages/server/src/base/clock.ts';
import { idAt, type Sample, textAt } from './samples.ts';

export interface ScaleSearch {
  readonly name: string;
  /** The type that is searched. */
  readonly type: string;
  /** The type of the resources that arguments are taken from. */
  readonly from: string;
  readonly query: (sample: Sample) => string;
}

const icd10 = 'http://hl7.org/fhir/sid/icd-10-cm';
const hemoglobin = 'http://loinc.org|718-7';

const patient = (sample: Sample): string => `patient=${idAt(sample, 'subject')}`;
const patientOfVisit = (sample: Sample): string => `patient=${idAt(sample, 'participant', 0, 'actor')}`;
const provider = (sample: Sample): string => `practitioner=${idAt(sample, 'participant', 1, 'actor')}`;
const day = (sample: Sample): string => textAt(sample, 'start').slice(0, 10);
const id = ({ resource }: Sample): string => resource.id;
const identifier = (sample: Sample): string => textAt(sample, 'identifier', 0, 'value');
const family = (sample: Sample): string => textAt(sample, 'name', 0, 'family');
const birthDate = (sample: Sample): string => textAt(sample, 'birthDate');
const code = (sample: Sample): string => textAt(sample, 'code', 'coding', 0, 'code');
const changed = (sample: Sample): string => `_lastUpdated=ge${toInstant(sample.changedMs)}`;

/** Those that find few resources, or whose page is led by an index in the order that is asked for. */
export const selectiveSearches: readonly ScaleSearch[] = [
  search('Patient', 'id', (one) => `_id=${id(one)}`),
  search('Patient', 'identifier', (one) => `identifier=${identifier(one)}`),
  search('Patient', 'telephone', (one) => `phone=${textAt(one, 'telecom', 0, 'value')}`),
  search('Patient', 'name', (one) => `family=${family(one)}`),
  search('Patient', 'name, exact', (one) => `family:exact=${family(one)}`),
  search('Patient', 'birth date', (one) => `birthdate=${birthDate(one)}`),
  search('Patient', 'name and birth date', (one) => `name=${family(one)}&birthdate=${birthDate(one)}`),
  search('Condition', 'a patient’s', patient),
  search('Condition', 'a patient’s of a status', (one) => `${patient(one)}&clinical-status=active`),
  search('Condition', 'a patient’s, not of a status', (one) => `${patient(one)}&clinical-status:not=resolved`),
  search('Condition', 'a patient’s of a code', (one) => `${patient(one)}&code=${icd10}|${code(one)}`),
  search(
    'Appointment',
    'a patient’s from a day on, sorted',
    (one) => `${patientOfVisit(one)}&date=ge${day(one)}&_sort=date`,
  ),
  search('Encounter', 'a patient’s, newest 5', (one) => `${patient(one)}&_sort=-date&_count=5`),
  search('Appointment', 'a provider’s day, sorted', (one) => `${provider(one)}&date=${day(one)}&_sort=date`),
  search('Appointment', 'a provider’s day of a status', (one) => `${provider(one)}&date=${day(one)}&status=fulfilled`),
  search('Encounter', 'chain to an identifier', (one) => `patient.identifier=MM${recordNumber(idAt(one, 'subject'))}`),
  search(
    'Appointment',
    'chain to a name and birth date',
    (one) => `patient.family=${family(one)}&patient.birthdate=${birthDate(one)}`,
    'Patient',
  ),
  search(
    'DiagnosticReport',
    'chain of two links',
    (one) => `encounter.patient.identifier=MM${recordNumber(idAt(one, 'subject'))}`,
  ),
  search(
    'Patient',
    '_has, of a visit',
    (one) => `_has:Observation:patient:encounter=${idAt(one, 'encounter')}`,
    'Observation',
  ),
  search(
    'Patient',
    '_has, of an identifier',
    (one) => `_has:Coverage:beneficiary:identifier=${identifier(one)}`,
    'Coverage',
  ),
  search('Observation', 'composite, of a patient', (one) => `${patient(one)}&code-value-quantity=${hemoglobin}$gt10`),
  search(
    'Observation',
    'quantity in another unit, of a patient',
    (one) => `${patient(one)}&value-quantity=gt100|http://unitsofmeasure.org|g/L`,
  ),
  search(
    'Patient',
    '_filter with and',
    (one) => `_filter=family eq "${family(one)}" and birthdate eq ${birthDate(one)}`,
  ),
  search(
    'Patient',
    '_filter with or',
    (one) => `_filter=identifier eq "${identifier(one)}" or birthdate eq ${birthDate(one)}`,
  ),
  search('Appointment', 'one with its actors included', (one) => `_id=${id(one)}&_include=Appointment:actor`),
  search('Patient', 'one with its conditions included', (one) => `_id=${id(one)}&_revinclude=Condition:patient`),
  search('Condition', 'a patient’s with the patient', (one) => `${patient(one)}&_include=Condition:patient`),
  search('Patient', 'a page of all', () => '_count=20'),
  search('Patient', 'a page by name', () => '_sort=family&_count=20'),
  search('Appointment', 'a page, newest first', () => '_sort=-date&_count=20'),
  search('Appointment', 'a page from a day on', (one) => `date=ge${day(one)}&_count=20`),
  search('Appointment', 'a page of a status, newest first', () => 'status=fulfilled&_sort=-date&_count=20'),
  search('Appointment', 'a page of a provider, newest first', (one) => `${provider(one)}&_sort=-date&_count=20`),
  search('ChargeItem', 'a page of a code', (one) => `code=${code(one)}&_count=20`),
  search('Encounter', 'changed since', (one) => `${changed(one)}&_count=20`),
  search('Encounter', 'changed since, of a status', (one) => `${changed(one)}&status=finished&_count=20`),
];

/** Those that have to go through a part of the firm's data. */
export const broadSearches: readonly ScaleSearch[] = [
  search('Patient', 'name contains', () => 'family:contains=son&_count=20'),
  search(
    'Appointment',
    'a provider’s of a status, sorted',
    (one) => `${provider(one)}&status=noshow&_sort=date&_count=20`,
  ),
  search('Appointment', 'a status, sorted by two keys', () => 'status=fulfilled&_sort=status,date&_count=20'),
  search('Patient', '_has, of a code', (one) => `_has:Condition:patient:code=${code(one)}&_count=20`, 'Condition'),
  search('Encounter', 'chain to a gender', () => 'patient.gender=female&_count=20'),
  search('Appointment', 'page 20 by number', () => 'status=fulfilled&_count=20&page=20'),
  search('Appointment', 'accurate total of a status', () => 'status=fulfilled&_summary=count'),
];

/** Walked from page to page; in the large data set each has more than 1,000 pages of `pageRows`. */
export const walkedSearches: readonly ScaleSearch[] = [
  search('ChargeItem', 'all', () => ''),
  search('ChargeItem', 'changed since', () => '_lastUpdated=ge2000-01-01'),
  search('ChargeItem', 'by date', () => 'occurrence=ge2000-01-01'),
  search('Appointment', 'sorted by date, newest first', () => '_sort=-date'),
  search('Appointment', 'of a status', () => 'status=fulfilled'),
  search('Appointment', 'of a status, sorted by date', () => 'status=fulfilled&_sort=date'),
];

function search(type: string, name: string, query: ScaleSearch['query'], from: string = type): ScaleSearch {
  return { name, type, from, query };
}

/** The record number of a synthetic patient, whose ids begin at 450,000. */
function recordNumber(patientId: string): string {
  return String(Number(patientId) - 449_999).padStart(10, '0');
}
