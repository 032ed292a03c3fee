import { framingIsJudged, framingIsTheStandards, refusedEventsEnd } from '../../fuzz/sse.js';
import { testBriefly } from './fuzz.js';

testBriefly([framingIsJudged(), framingIsTheStandards(), refusedEventsEnd()]);
