"""The agent of the interoperation suite on the Python SDK 0.3.x, which speaks 0.3 alone. Its words are those of agent.py."""

import asyncio
import base64

import httpx

from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.apps import A2AStarletteApplication
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import BasePushNotificationSender, InMemoryPushNotificationConfigStore, InMemoryTaskStore, TaskUpdater
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentSkill,
    DataPart,
    FilePart,
    FileWithBytes,
    FileWithUri,
    Part,
    TaskState,
    TextPart,
)
from a2a.utils import new_agent_text_message, new_task

from serving import listen, serve


def text(value: str) -> Part:
    return Part(root=TextPart(text=value))


class Obedient(AgentExecutor):
    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        word, _, rest = context.get_user_input().partition(' ')
        if word == 'say':
            await event_queue.enqueue_event(new_agent_text_message(rest, context_id=context.context_id))
            return
        task = context.current_task
        if task is None:
            task = new_task(context.message)
            await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        await updater.start_work()
        if word == 'ask':
            question = updater.new_agent_message([text('what?')])
            await updater.update_status(TaskState.input_required, question, final=True)
            return
        if word == 'fail':
            await updater.failed(updater.new_agent_message([text('as told')]))
            return
        if word == 'throw':
            raise RuntimeError('broken as told')
        while word == 'slow':
            await asyncio.sleep(0.1)
            await updater.start_work()
        if word == 'quiet':
            await asyncio.sleep(int(rest) / 1000)
        elif word == 'stream':
            for chunk in ('one', 'two', 'three'):
                await updater.add_artifact(
                    [text(chunk)], artifact_id='chunks', append=chunk != 'one', last_chunk=chunk == 'three'
                )
        elif word == 'parts':
            five = base64.b64encode(bytes([0, 250, 255, 62, 63])).decode()
            parts = [
                text('grüß ☃'),
                Part(root=DataPart(data={'n': 1.5, 'list': [True, None], 'deep': {'text': 'x'}})),
                Part(root=FilePart(file=FileWithBytes(bytes=five, mime_type='application/octet-stream', name='five.bin'))),
                Part(root=FilePart(file=FileWithUri(uri='https://agent.example/file', mime_type='text/plain'))),
            ]
            await updater.add_artifact(parts, artifact_id='parts')
        else:
            await updater.add_artifact([text(rest)], artifact_id='echo')
        await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def main() -> None:
    listener, url = listen()
    card = AgentCard(
        name='Obedient',
        description='Does what the first word of a message says.',
        version='1.0.0',
        url=url,
        preferred_transport='JSONRPC',
        protocol_version='0.3.0',
        capabilities=AgentCapabilities(streaming=True, push_notifications=True),
        default_input_modes=['text/plain'],
        default_output_modes=['text/plain'],
        skills=[AgentSkill(id='obey', name='Obey', description='Does as told.', tags=['test'])],
    )
    configs = InMemoryPushNotificationConfigStore()
    handler = DefaultRequestHandler(
        agent_executor=Obedient(),
        task_store=InMemoryTaskStore(),
        push_config_store=configs,
        push_sender=BasePushNotificationSender(httpx.AsyncClient(), configs),
    )
    serve(A2AStarletteApplication(agent_card=card, http_handler=handler).build(), listener, url)


main()
