import { anyAnswerEnds } from '../../fuzz/any_answer.js';
import { testBriefly } from './fuzz.js';

testBriefly([anyAnswerEnds()]);
