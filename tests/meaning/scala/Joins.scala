package org.apache.spark.sql.meaning

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{And, Expression}
import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical.Join
import org.apache.spark.sql.errors.QueryExecutionErrors
import org.apache.spark.sql.meaning.Evaluator._
import scala.collection.mutable

/** Joins as Spark runs them: the equal keys first, and the rest of the condition only for pairs that have them.
  *
  * A condition that may raise is so evaluated for the pairs for which a hash join or sort-merge join evaluates it.
  */
object Joins {
  def rows(join: Join): Rows = {
    val left = Evaluator.rows(join.left)
    val right = Evaluator.rows(join.right)
    val partners = partnersOf(join, right)
    val (leftOutput, rightOutput) = (join.left.output, join.right.output)
    def pair(l: InternalRow, r: InternalRow): InternalRow = row(values(l, leftOutput) ++ values(r, rightOutput))
    def alone(l: InternalRow): InternalRow = row(values(l, leftOutput) ++ rightOutput.map(_ => null))
    def unmatched(hit: mutable.Set[Int]): Rows =
      right.indices.filterNot(hit).map(i => row(leftOutput.map(_ => null) ++ values(right(i), rightOutput)))
    def matched(hit: mutable.Set[Int], outer: Boolean, single: Boolean = false): Rows = left.flatMap { l =>
      val found = partners(l)
      if (single && found.length > 1) throw QueryExecutionErrors.scalarSubqueryReturnsMultipleRows()
      hit ++= found
      if (found.isEmpty && outer) Seq(alone(l)) else found.map(i => pair(l, right(i)))
    }
    val hit = mutable.Set[Int]()
    join.joinType match {
      case _: InnerLike => matched(hit, outer = false)
      case LeftSemi => left.filter(partners(_).nonEmpty)
      case LeftAnti => left.filter(partners(_).isEmpty)
      case ExistenceJoin(_) => left.map(l => row(values(l, leftOutput) :+ partners(l).nonEmpty))
      case LeftOuter => matched(hit, outer = true)
      case LeftSingle => matched(hit, outer = true, single = true)
      case RightOuter => matched(hit, outer = false) ++ unmatched(hit)
      case FullOuter => matched(hit, outer = true) ++ unmatched(hit)
      case other => throw new UnsupportedOperationException(s"no evaluation of a $other join")
    }
  }

  /** Left row → places of its partners. */
  private def partnersOf(join: Join, right: Rows): InternalRow => Seq[Int] = join match {
    case ExtractEquiJoinKeys(_, leftKeys, rightKeys, others, _, _, _, _) =>
      val places = mutable.Map[Seq[Any], mutable.ArrayBuffer[Int]]()
      val (keyOfLeft, keyOfRight) = (keys(leftKeys, join.left.output), keys(rightKeys, join.right.output))
      right.indices.foreach(i => keyOfRight(right(i)).foreach(k => places.getOrElseUpdate(k, mutable.ArrayBuffer()) += i))
      val fits = condition(join, right, others)
      l => keyOfLeft(l).flatMap(places.get).fold(Seq[Int]())(_.toSeq).filter(fits(l, _))
    case _ =>
      val fits = condition(join, right, join.condition)
      l => right.indices.filter(fits(l, _))
  }

  /** The key of a row, none if one of its values is NULL. */
  private def keys(expressions: Seq[Expression], input: Seq[org.apache.spark.sql.catalyst.expressions.Attribute])
      : InternalRow => Option[Seq[Any]] = {
    val found = expressions.map(e => bound(org.apache.spark.sql.catalyst.optimizer.NormalizeFloatingNumbers.normalize(e), input))
    r => {
      val cells = found.map(_.eval(r))
      if (cells.contains(null)) None else Some(cells.map(key))
    }
  }

  private def condition(join: Join, right: Rows, found: Option[Expression]): (InternalRow, Int) => Boolean = found match {
    case None => (_, _) => true
    case Some(test) =>
      val holds = predicate(test, join.left.output ++ join.right.output)
      (l, i) => holds(row(values(l, join.left.output) ++ values(right(i), join.right.output)))
  }
}
