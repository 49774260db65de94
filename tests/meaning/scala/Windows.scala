package org.apache.spark.sql.meaning

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans.logical.Window
import org.apache.spark.sql.meaning.Evaluator._

/** The window functions of net diffs and tuple-based statements: DENSE_RANK, and aggregates over a whole partition. */
object Windows {
  def rows(window: Window): Rows = {
    val input = window.child.output
    val calls = window.windowExpressions.map(e => e.collectFirst { case call: WindowExpression => call }.get)
    grouped(Evaluator.rows(window.child), window.partitionSpec, input).values.toIndexedSeq.flatMap { case (_, members) =>
      val columns = calls.map(function(_, window, members.toIndexedSeq))
      members.indices.map(i => row(values(members(i), input) ++ columns.map(_(i))))
    }
  }

  /** Its values for the rows of one partition. */
  private def function(call: WindowExpression, window: Window, members: Rows): IndexedSeq[Any] = call.windowFunction match {
    case aggregate: AggregateExpression if window.orderSpec.isEmpty =>
      val value = Aggregation.aggregator(aggregate, window.child.output)(members)
      members.map(_ => value)
    case _: DenseRank =>
      val order = new InterpretedOrdering(window.orderSpec.map(bound(_, window.child.output).asInstanceOf[SortOrder]))
      val firsts = members.sorted(order).foldLeft(Vector[InternalRow]()) { (found, each) =>
        if (found.nonEmpty && order.compare(found.last, each) == 0) found else found :+ each
      }
      members.map(each => 1 + firsts.indexWhere(order.compare(_, each) == 0))
    case other => throw new UnsupportedOperationException(s"no evaluation of the window function $other")
  }
}
