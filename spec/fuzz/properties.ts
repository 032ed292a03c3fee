/** All properties, as they are held against the code itself. */
import { anyAnswerEnds } from './any_answer.js';
import { anyCallerIsAnswered } from './caller.js';
import { envelopesAreJudged, innerJsonIsJudged, jsonIsJudged } from './json.js';
import { repeatsAreRecognised } from './repeats.js';
import { requestsRoundTrip } from './requests.js';
import { answersRoundTrip, eventsRoundTrip } from './round_trip.js';
import type { Property } from './runner.js';
import { socketsSettle } from './sockets.js';
import { framingIsJudged, framingIsTheStandards, refusedEventsEnd } from './sse.js';

export const PROPERTIES: readonly Property[] = [
  jsonIsJudged(),
  innerJsonIsJudged(),
  envelopesAreJudged(),
  framingIsJudged(),
  framingIsTheStandards(),
  refusedEventsEnd(),
  anyAnswerEnds(),
  answersRoundTrip(),
  eventsRoundTrip(),
  requestsRoundTrip(),
  repeatsAreRecognised(),
  anyCallerIsAnswered(),
  socketsSettle(),
];
